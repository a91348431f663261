/** How one device is reached: its address and the session with its agent, for all that is asked of it. */
import { randomBytes } from 'node:crypto';
import type { Device, DeviceConfiguration } from '../../core/device.ts';
import type { Fault } from '../../core/live-test.ts';
import { errorFields } from '../../core/log-line.ts';
import { PROBE_OID } from '../../protocols/snmp/live-test.ts';
import { type SessionSettings, SnmpSession } from '../../protocols/snmp/session.ts';
import { type AuthProtocol, type PrivProtocol, passwordToKey } from '../../protocols/snmp/usm-key.ts';
import { compileWalkPlan, DEFAULT_WALK_LIMITS, type WalkLimits } from '../../protocols/snmp/walk-plan.ts';
import type { SecretPlace } from '../../store/keyring.ts';
import { log } from '../log.ts';
import { type SnmpDriver, type SnmpTarget, walkOnce } from './driver.ts';
import { resolveAddress } from './resolve-address.ts';

export type SnmpConfiguration = NonNullable<DeviceConfiguration['snmp']>;

export interface LinkPorts {
  decrypt(stored: string, place: SecretPlace): Promise<string>;
  monotonic(): number;
  /** Devices on the loopback may be asked: the local run. */
  readonly allowLoopback: boolean;
}

export type Reached = { readonly target: SnmpTarget } | { readonly fault: Fault };

const DEFAULT_PORT = 161;

/** How long v1 is spoken before v2c is tried again, and how often a silent device is asked for v1. */
const OLDER_LIFE_MILLISECONDS = 3_600_000;
const OLDER_RETRY_MILLISECONDS = 60_000;

const PROBE = compileWalkPlan([{ kind: 'scalars', instances: [PROBE_OID] }]);

/** A name is resolved again this often, and after a poll that failed. */
const ADDRESS_LIFE_MILLISECONDS = 60_000;

export class DeviceLink {
  readonly limits: WalkLimits;
  private readonly device: Device;
  private readonly settings: SnmpConfiguration;
  private readonly ports: LinkPorts;
  private isLogged = false;
  private opening: Promise<SnmpSession> | undefined;
  /** A session in v1 with a device that answers nothing else, until this time. */
  private older: { readonly session: SnmpSession; readonly until: number } | undefined;
  private olderTriedAt = Number.NEGATIVE_INFINITY;
  private resolved: { readonly address: string; readonly at: number } | undefined;

  constructor(device: Device, settings: SnmpConfiguration, ports: LinkPorts) {
    this.device = device;
    this.settings = settings;
    this.ports = ports;
    this.limits = {
      ...DEFAULT_WALK_LIMITS,
      maxRepetitions: settings['max-repetitions'] || DEFAULT_WALK_LIMITS.maxRepetitions,
      timeoutMilliseconds: settings['timeout-ms'] || DEFAULT_WALK_LIMITS.timeoutMilliseconds,
      retries: settings.retries,
    };
  }

  /** How the device is spoken to, for people: `v2c`, `v3 authPriv`. */
  get dialect(): string {
    return this.older === undefined ? dialectOf(this.settings) : 'v1';
  }

  /** Where and as whom to ask; secrets are decrypted and keys made when it is first called. Never rejects. */
  async reach(): Promise<Reached> {
    this.opening ??= this.openSession();
    let session: SnmpSession;
    try {
      session = await this.opening;
    } catch (error) {
      this.opening = undefined;
      // Once: the status goes on saying so, and every poll tries again.
      if (!this.isLogged) {
        log('error', 'device secrets not readable', { 'device-id': this.device.id, ...errorFields(error) });
      }
      this.isLogged = true;
      const detail = "the device's stored secrets cannot be decrypted; set them again";
      return { fault: { code: 'authentication', detail } };
    }
    const address = await this.resolve();
    if (typeof address !== 'string') return { fault: address };
    const { port, unconnected } = this.settings;
    if (this.older !== undefined && this.older.until < this.ports.monotonic()) this.older = undefined;
    return {
      target: {
        address,
        port: port || DEFAULT_PORT,
        unconnected,
        session: this.older?.session ?? session,
      },
    };
  }

  /**
   * A device was silent to v2c: finds out whether it speaks v1 and nothing newer, and if so speaks v1 with it from now
   * on, for an hour. Asked at most once a minute; true when it has just changed.
   */
  async fallBack(driver: SnmpDriver, target: SnmpTarget, budgetMilliseconds: number): Promise<boolean> {
    const { settings } = target.session;
    const now = this.ports.monotonic();
    if (settings.version !== 'v2c' || now - this.olderTriedAt < OLDER_RETRY_MILLISECONDS) return false;
    this.olderTriedAt = now;
    const session = new SnmpSession({ version: 'v1', community: settings.community });
    const isAnswered = async (asked: SnmpTarget) => {
      const { fault } = await walkOnce(driver, {
        target: asked,
        plan: PROBE,
        limits: this.limits,
        budgetMilliseconds: budgetMilliseconds / 2,
        row: () => {},
      });
      return fault === undefined;
    };
    if (!(await isAnswered({ ...target, session }))) return false;
    // It may just have come back: only one that is still silent to v2c is so for good.
    if (await isAnswered(target)) return false;
    this.older = { session, until: this.ports.monotonic() + OLDER_LIFE_MILLISECONDS };
    return true;
  }

  /** The device did not answer as it should: its name may mean another address by now. */
  forgetAddress(): void {
    this.resolved = undefined;
  }

  private async resolve(): Promise<string | Fault> {
    const now = this.ports.monotonic();
    if (this.resolved !== undefined && now - this.resolved.at < ADDRESS_LIFE_MILLISECONDS) {
      return this.resolved.address;
    }
    const outcome = await resolveAddress(this.device.configuration.address, this.ports.allowLoopback);
    if ('fault' in outcome) return outcome.fault;
    this.resolved = { address: outcome.address, at: now };
    return outcome.address;
  }

  private async openSession(): Promise<SnmpSession> {
    const { settings } = this;
    if (settings.version !== 'v3') {
      const community = Buffer.from(await this.secret('community'));
      return new SnmpSession({ version: settings.version || 'v2c', community });
    }
    const user = Buffer.from(settings.user);
    const authProtocol = settings['auth-protocol'];
    const privProtocol = settings['priv-protocol'];
    const authPassword = await this.secret('auth-password');
    const privPassword = await this.secret('priv-password');
    return new SnmpSession({
      version: 'v3',
      user: { name: user, ...userKeys(authProtocol, authPassword, privProtocol, privPassword) },
      contextName: Buffer.from(settings.context),
      engineId: Buffer.from(settings['engine-id'], 'hex'),
      salt: randomBytes(8).readBigUInt64BE(),
    } satisfies SessionSettings);
  }

  private async secret(member: 'community' | 'auth-password' | 'priv-password'): Promise<string> {
    const field = `snmp/${member}`;
    const stored = this.device.encryptedSecrets[field];
    return stored === undefined
      ? ''
      : this.ports.decrypt(stored, { owner: `device/${this.device.id}`, field });
  }
}

/** Ku of passwords lately used: fleets share one, and each costs a millisecond or more. */
const madeKeys = new Map<string, Uint8Array>();
const MAX_MADE_KEYS = 256;

function keyOf(protocol: AuthProtocol, password: string): Uint8Array {
  const name = `${protocol} ${password}`;
  const key = madeKeys.get(name) ?? passwordToKey(protocol, Buffer.from(password));
  madeKeys.delete(name);
  madeKeys.set(name, key);
  const [oldest] = madeKeys.keys();
  if (madeKeys.size > MAX_MADE_KEYS && oldest !== undefined) madeKeys.delete(oldest);
  return key;
}

function userKeys(
  authProtocol: AuthProtocol | '',
  authPassword: string,
  privProtocol: PrivProtocol | '',
  privPassword: string,
) {
  if (authProtocol === '') return {};
  const auth = { protocol: authProtocol, key: keyOf(authProtocol, authPassword) };
  if (privProtocol === '') return { auth };
  return { auth, priv: { protocol: privProtocol, key: keyOf(authProtocol, privPassword) } };
}

function dialectOf(settings: SnmpConfiguration): string {
  if (settings.version !== 'v3') return settings.version || 'v2c';
  const auth = settings['auth-protocol'] === '' ? 'noAuth' : 'auth';
  return `v3 ${auth}${settings['priv-protocol'] === '' ? 'NoPriv' : 'Priv'}`;
}
