/** A stored device as gNMI dials it. */
import type { Device } from '../../core/device.ts';
import { deviceDialRefusal } from '../../core/dial-guard.ts';
import { parseIpAddress } from '../../core/ip-address.ts';
import type { DialGuard, GnmiEndpoint } from './endpoint.ts';

/** Decrypts what a device keeps at a place such as `gnmi/password`. */
export type ReadDeviceSecret = (device: Device, place: string) => Promise<string>;

const DEFAULT_PORT = 57_400;

/** The device's gNMI settings with its secrets in clear: made for each connection, and kept no longer than that. */
export async function readEndpoint(device: Device, readSecret: ReadDeviceSecret): Promise<GnmiEndpoint> {
  const { address, gnmi } = device.configuration;
  if (gnmi === null) throw new Error(`device ${device.id} has no gNMI settings`);
  const secret = (place: string) =>
    device.encryptedSecrets[place] === undefined ? '' : readSecret(device, place);
  const [password, clientKey] = await Promise.all([secret('gnmi/password'), secret('gnmi/client-key')]);
  return {
    address,
    port: gnmi.port || DEFAULT_PORT,
    tls: gnmi.tls || 'verify',
    ca: gnmi.ca,
    clientCertificate: gnmi['client-certificate'],
    clientKey,
    serverName: gnmi['server-name'],
    username: gnmi.username,
    password,
    target: gnmi.target,
  };
}

/** The rules of where devices may be, as the guard of each resolved address. */
export function deviceGuard(options: { readonly allowLoopback: boolean }): DialGuard {
  return (text) => {
    const address = parseIpAddress(text);
    return address === undefined ? `${text} is no address` : deviceDialRefusal(address, options);
  };
}
