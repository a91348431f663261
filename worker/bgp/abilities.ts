import { probe, socketOptions } from './socket-options.ts';

/** What this worker can do with BGP sockets on this platform; `/api/engine` and `/api/health` show it. */
export interface Abilities {
  readonly tcpMd5: boolean;
  readonly ttlSecurity: boolean;
  /** That peers can connect to us at all. Whether a listener is up is the configuration's matter. */
  readonly bgpListen: boolean;
}

let known: Abilities | undefined;

export function abilities(): Abilities {
  known ??= find();
  return known;
}

function find(): Abilities {
  const options = socketOptions();
  return {
    ...(options === undefined ? { tcpMd5: false, ttlSecurity: false } : probe(options)),
    bgpListen: true,
  };
}
