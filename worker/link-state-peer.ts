import { deviceDialRefusal } from '../core/dial-guard.ts';
import type { EngineSettings } from '../core/engine-settings.ts';
import { type IpAddress, parseIpAddress } from '../core/ip-address.ts';
import type { OwnerRecord } from '../core/ownership.ts';
import { effectivePeer, type Peer, peerIdentity } from '../core/peer.ts';
import { sessionSettings } from '../core/peer-settings.ts';
import type { PeerStatus, SessionReason } from '../core/peer-status.ts';
import { bgpError, CEASE_SUBCODE, ERROR_CODE, UPDATE_MESSAGE_SUBCODE } from '../protocols/bgp/error.ts';
import type { Family } from '../protocols/bgp/family.ts';
import { LINK_STATE_SAFI, LINK_STATE_VPN_SAFI } from '../protocols/bgp/ls/code-point.ts';
import { type LinkStateChange, LinkStateTable } from '../protocols/bgp/ls/table.ts';
import type { PeerSettings } from '../protocols/bgp/peer-settings.ts';
import type { LinkStateUpdate } from '../protocols/bgp/update.ts';
import type { TopologyLogWriter } from '../store/topology-log.ts';
import type { Listeners } from './bgp/listeners.ts';
import { PeerDriver } from './bgp/peer-driver.ts';
import { openRecorder } from './bgp/session-recorder.ts';
import { log as writeLog } from './log.ts';
import { MalformedUpdateLog } from './malformed-update-log.ts';
import type { NlriBudget } from './nlri-budget.ts';
import type { PeerRunner, StopReason } from './peer-runner.ts';
import { peerStatus } from './peer-status-view.ts';

export interface LinkStatePeerPorts {
  /** Wall clock, milliseconds since 1970. */
  now(): number;
  monotonic(): number;
  random(): number;
  /** Whether this worker may still touch the network and the store. */
  mayAct(): boolean;
  /** Something in `status()` that people should see soon has changed. */
  onStatus(): void;
  /** An Established session has ended that was to go on. */
  onSessionLost(peerId: number): void;
  openLog(ownership: OwnerRecord, engine: EngineSettings): Promise<TopologyLogWriter>;
  readPassword(peer: Peer): Promise<string>;
  readonly allowLoopback: boolean;
  /** What all peers of this worker may keep together. */
  readonly budget: NlriBudget;
  /** Who may connect to this worker. */
  readonly listeners: Listeners;
}

/** Runs one peer: hands its UPDATEs to its table, what is new there to its log, and what happened to its status. */
export class LinkStatePeer implements PeerRunner {
  readonly epoch: number;
  readonly #ownership: OwnerRecord;
  readonly #ports: LinkStatePeerPorts;
  readonly #malformed: MalformedUpdateLog;
  /** What was said of the peer before this driver: by another worker, or by a driver that has been stopped. */
  #before: PeerStatus | undefined;
  #log: TopologyLogWriter | undefined;
  #table: LinkStateTable;
  #peer: Peer | undefined;
  #driver: PeerDriver | undefined;
  #reason: SessionReason = '';
  #isStopped = false;
  #isStoppingDriver = false;
  readonly #withheld = { malformed: 0, loop: 0, 'missing-mandatory-attribute': 0 };

  constructor(ownership: OwnerRecord, before: PeerStatus | undefined, ports: LinkStatePeerPorts) {
    this.epoch = ownership.epoch;
    this.#ownership = ownership;
    this.#before = before;
    this.#ports = ports;
    this.#malformed = new MalformedUpdateLog(ownership.id, writeLog);
    this.#table = this.#emptyTable();
  }

  async configure(peer: Peer, engine: EngineSettings): Promise<void> {
    const password = await this.#ports.readPassword(peer);
    this.#log ??= await this.#ports.openLog(this.#ownership, engine);
    if (this.#isStopped) return;
    this.#ports.budget.limit = engine['max-nlri'];
    this.#log.staleTimeSeconds = engine['stale-time'];
    const previous = this.#peer;
    this.#peer = peer;
    this.#reason = this.#reasonNotToRun(peer);
    const { administrativeShutdown, otherConfigurationChange } = CEASE_SUBCODE;
    if (this.#reason !== '') {
      await this.#stopDriver(this.#reason === 'disabled' ? administrativeShutdown : otherConfigurationChange);
      this.#purge('disabled');
    } else if (previous !== undefined && saysOtherThings(previous, peer)) {
      await this.#stopDriver(otherConfigurationChange);
      this.#purge('disabled');
    }
    if (this.#isStopped) return;
    const settings = sessionSettings(peer, engine, password);
    if (this.#driver !== undefined) {
      this.#driver.update(settings);
    } else if (this.#reason === '') {
      this.#table = this.#emptyTable();
      this.#driver = new PeerDriver(settings, {
        ...this.#driverPorts(this.#log),
        recorder: openRecorder(settings, this.#ports.now()),
      });
      this.#driver.start();
    }
    this.#expectConnections(settings);
    this.#ports.onStatus();
  }

  command(command: 'reset' | 'refresh'): void {
    if (command === 'reset') this.#driver?.reset();
    else this.#driver?.refresh();
  }

  tick(): void {
    this.#log?.tick(this.#ports.now());
  }

  async stop(reason: StopReason): Promise<void> {
    this.#isStopped = true;
    this.#ports.listeners.refuse(this.#ownership.id);
    this.#ports.budget.account(this.#ownership.id, 0);
    if (reason === 'fenced') {
      this.#driver?.abandon();
      this.#log?.abandon();
      return;
    }
    const { peerDeconfigured, administrativeReset } = CEASE_SUBCODE;
    await this.#stopDriver(reason === 'deleted' ? peerDeconfigured : administrativeReset);
    if (reason === 'deleted') await this.#log?.end(this.#ports.now());
    else await this.#log?.close();
  }

  status(): PeerStatus {
    return peerStatus({
      ownership: this.#ownership,
      before: this.#before,
      session: this.#driver?.status(),
      reason: this.#reason,
      table: this.#table,
      withheld: this.#withheld,
    });
  }

  pendingSince(): number | undefined {
    return this.#isStopped ? undefined : this.#log?.pendingSince;
  }

  #reasonNotToRun(peer: Peer): SessionReason {
    if (!peer.configuration.enabled) return 'disabled';
    const { peerAddress } = effectivePeer(peer.configuration);
    const { allowLoopback, listeners } = this.#ports;
    if (deviceDialRefusal(parseIpAddress(peerAddress) as IpAddress, { allowLoopback }) !== undefined)
      return 'blocked-address';
    return peer.configuration.passive && !listeners.serve(peerAddress) ? 'no-listener' : '';
  }

  #expectConnections({ peerAddress, localAddress, password }: PeerSettings): void {
    const { listeners } = this.#ports;
    const driver = this.#driver;
    if (driver === undefined) listeners.refuse(this.#ownership.id);
    else listeners.expect(this.#ownership.id, { peerAddress, localAddress, password, driver });
  }

  async #stopDriver(ceaseSubcode: number): Promise<void> {
    const driver = this.#driver;
    if (driver === undefined) return;
    this.#isStoppingDriver = true;
    await driver.stop({ subcode: ceaseSubcode });
    this.#isStoppingDriver = false;
    this.#before = this.status();
    this.#driver = undefined;
  }

  #driverPorts(log: TopologyLogWriter): ConstructorParameters<typeof PeerDriver>[1] {
    const now = () => this.#ports.now();
    return {
      now,
      monotonic: () => this.#ports.monotonic(),
      random: () => this.#ports.random(),
      mayAct: () => this.#ports.mayAct(),
      onStatus: () => this.#ports.onStatus(),
      onEstablished: () => {
        this.#table.beginRefresh(LINK_STATE_SAFI);
        this.#table.beginRefresh(LINK_STATE_VPN_SAFI);
        log.established(now());
      },
      onUpdate: (update) => this.#onUpdate(update, log),
      onMalformedUpdate: (octets, problems) =>
        this.#malformed.note(octets, problems, this.#ports.monotonic()),
      onEndOfRib: (family) => {
        this.#table.sweep(linkStateSafi(family));
        if (this.#driver?.status().endOfRibAt !== null) log.endOfRib(now());
      },
      onSessionLost: ({ peerGracefulRestart, hardReset }) => {
        // RFC 8538 §3.1: after a hard reset the peer's restart time does not count; ours does, as after any loss.
        const restartTimeSeconds = hardReset ? 0 : (peerGracefulRestart?.restartTimeSeconds ?? 0);
        log.lost(now(), restartTimeSeconds);
        if (!this.#isStoppingDriver) this.#ports.onSessionLost(this.#ownership.id);
      },
      onRouteRefreshBegin: (family) => this.#table.beginRefresh(linkStateSafi(family)),
      onRouteRefreshEnd: (family) => {
        this.#table.sweep(linkStateSafi(family), (change) => tell(log, change, now()));
      },
    };
  }

  #onUpdate(update: LinkStateUpdate, log: TopologyLogWriter): void {
    const now = this.#ports.now();
    for (const problem of update.problems) this.#withheld[problem.reason] += 1;
    const outcome = this.#table.applyUpdate(update as TableUpdate, now, (change) => tell(log, change, now));
    if (outcome.action === 'afi-safi-disable') {
      const text =
        'the lengths of the NLRIs do not add up, so none behind the fault can be read (RFC 9552 §8.2.2)';
      const { optionalAttributeError } = UPDATE_MESSAGE_SUBCODE;
      this.#driver?.fail(bgpError(ERROR_CODE.updateMessageError, optionalAttributeError, text));
    } else if (this.#table.withheld['max-nlri'] > 0) {
      this.#stopAtLimit('max-nlri');
    } else if (!this.#ports.budget.account(this.#ownership.id, this.#table.size)) {
      this.#stopAtLimit('engine-max-nlri');
    }
  }

  /** RFC 4486 §4, RFC 9552 §8.2.6: a peer that tells more than is allowed is told so and stays down until reset. */
  #stopAtLimit(which: 'max-nlri' | 'engine-max-nlri'): void {
    const text =
      which === 'max-nlri'
        ? `more than ${effectivePeer((this.#peer as Peer).configuration).maxNlri} NLRIs, this peer's max-nlri`
        : `with this peer the engine would keep more than ${this.#ports.budget.limit} NLRIs, its max-nlri`;
    const { maximumNumberOfPrefixesReached } = CEASE_SUBCODE;
    this.#driver?.fail(bgpError(ERROR_CODE.cease, maximumNumberOfPrefixesReached, text), which);
    this.#purge('max-nlri');
  }

  /** Nothing that this peer told is believed any longer. */
  #purge(reason: 'disabled' | 'max-nlri'): void {
    this.#table = this.#emptyTable();
    this.#ports.budget.account(this.#ownership.id, 0);
    this.#log?.purge(reason, this.#ports.now());
  }

  #emptyTable(): LinkStateTable {
    const maxNlri = this.#peer === undefined ? 0 : effectivePeer(this.#peer.configuration).maxNlri;
    return new LinkStateTable({ maxNlri, hashSeed: Math.floor(this.#ports.random() * 2 ** 32) });
  }
}

/** Sessions offer link-state families only, so an UPDATE that comes through is of one of the two. */
type TableUpdate = Parameters<LinkStateTable['applyUpdate']>[0];

/** Another router, or another limit: everything has to be said again. */
function saysOtherThings(before: Peer, after: Peer): boolean {
  return (
    peerIdentity(before.configuration) !== peerIdentity(after.configuration) ||
    effectivePeer(before.configuration).maxNlri !== effectivePeer(after.configuration).maxNlri
  );
}

function tell(log: TopologyLogWriter, change: LinkStateChange, now: number): void {
  const { action, safi, nlri } = change;
  if (action === 'removed') log.withdraw(safi, nlri, now);
  else log.announce(safi, nlri, change.attribute ?? null, now);
}

function linkStateSafi(family: Family): typeof LINK_STATE_SAFI | typeof LINK_STATE_VPN_SAFI {
  return family.safi === LINK_STATE_VPN_SAFI ? LINK_STATE_VPN_SAFI : LINK_STATE_SAFI;
}
