/** From a device's address, a name or a literal, to one that datagrams may be sent to. */
import { promises as dns } from 'node:dns';
import { deviceDialRefusal } from '../../core/dial-guard.ts';
import { parseIpAddress } from '../../core/ip-address.ts';
import type { Fault } from '../../core/live-test.ts';

export type Resolved = { readonly address: string } | { readonly fault: Fault };

const LOOKUP_MILLISECONDS = 5_000;

/** The first of a device's addresses that the dial guard allows. Never rejects. */
export async function resolveAddress(nameOrLiteral: string, allowLoopback: boolean): Promise<Resolved> {
  const found = parseIpAddress(nameOrLiteral) === undefined ? await lookUp(nameOrLiteral) : [nameOrLiteral];
  if (!Array.isArray(found)) return { fault: found };
  let refusal = `${nameOrLiteral} has no address`;
  for (const address of found) {
    const parsed = parseIpAddress(address);
    const refused =
      parsed === undefined
        ? `${address} is no address that means the same everywhere`
        : deviceDialRefusal(parsed, { allowLoopback });
    if (refused === undefined) return { address };
    refusal = refused;
  }
  return { fault: { code: 'blocked-address', detail: refusal } };
}

async function lookUp(name: string): Promise<string[] | Fault> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<Fault>((settle) => {
    const fault: Fault = { code: 'dns', detail: `${name} was not resolved within ${LOOKUP_MILLISECONDS} ms` };
    timer = setTimeout(() => settle(fault), LOOKUP_MILLISECONDS);
  });
  const found = dns.lookup(name, { all: true }).then(
    (all) => all.map(({ address }) => address),
    (error: NodeJS.ErrnoException): Fault => ({ code: 'dns', detail: `${name}: ${error.code}` }),
  );
  const outcome = await Promise.race([found, tooLate]);
  clearTimeout(timer);
  return outcome;
}
