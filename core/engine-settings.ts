import type * as z from 'zod/mini';
import type { engineConfiguration } from './engine-request.ts';
import { parseIpAddress } from './ip-address.ts';

export type EngineConfiguration = z.output<typeof engineConfiguration>;

export interface EngineSettings extends EngineConfiguration {
  readonly revision: number;
}

/** A router id for an engine that was given none: 10.x.y.z from three bytes of chance. */
export function routerIdFrom(bytes: Uint8Array): string {
  return `10.${bytes[0]}.${bytes[1]}.${Math.max(1, bytes[2] as number)}`;
}

/** RFC 6286 §2.1: four octets, not zero. */
export function isRouterId(text: string): boolean {
  return parseIpAddress(text)?.family === 4 && text !== '0.0.0.0';
}
