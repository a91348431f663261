/** The Capabilities RPC (gNMI specification §3.2). */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type EncodingName, encodingName } from './netos.ts';
import { CapabilityRequestSchema, CapabilityResponseSchema } from './schema.ts';

export interface Capabilities {
  readonly version: string;
  /** Those that we know, in the target's order. Advertised is not supported: try them. */
  readonly encodings: readonly EncodingName[];
  readonly models: ReadonlyArray<{
    readonly name: string;
    readonly organization: string;
    readonly version: string;
  }>;
}

export function encodeCapabilityRequest(): Uint8Array {
  return toBinary(CapabilityRequestSchema, create(CapabilityRequestSchema));
}

/** Undefined when the bytes are no CapabilityResponse. */
export function decodeCapabilityResponse(bytes: Uint8Array): Capabilities | undefined {
  try {
    const message = fromBinary(CapabilityResponseSchema, bytes, { readUnknownFields: false });
    return {
      version: message.gNMIVersion,
      encodings: message.supportedEncodings.map(encodingName).filter((name) => name !== undefined),
      models: message.supportedModels.map(({ name, organization, version }) => ({
        name,
        organization,
        version,
      })),
    };
  } catch {
    return undefined;
  }
}
