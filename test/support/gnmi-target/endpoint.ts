import type { GnmiEndpoint } from '../../../worker/gnmi/endpoint.ts';

/** The settings of a device that is a simulated target on this port, without TLS unless said otherwise. */
export function endpointOf(port: number, changes: Partial<GnmiEndpoint> = {}): GnmiEndpoint {
  return {
    address: '127.0.0.1',
    port,
    tls: 'off',
    ca: '',
    clientCertificate: '',
    clientKey: '',
    serverName: '',
    username: '',
    password: '',
    target: '',
    ...changes,
  };
}

/** Tests dial loopback. */
export const allowAll = (): undefined => undefined;
