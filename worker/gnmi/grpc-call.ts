/** One RPC on an HTTP/2 connection: gRPC over HTTP/2 with our own framing. */
import {
  encodeFrame,
  type FrameError,
  FrameReader,
  type MessageReader,
} from '../../protocols/gnmi/grpc-frame.ts';
import {
  decodeGrpcMessage,
  faultOfStatus,
  type GnmiFault,
  GrpcStatus,
  PASSWORD_MASK,
} from '../../protocols/gnmi/grpc-status.ts';
import { ErrorCode, errorName } from '../../protocols/http2/frame.ts';
import type { HeaderField } from '../../protocols/http2/static-table.ts';
import type { ClientStream, StreamEvents, StreamReset } from '../../protocols/http2/stream.ts';
import type { Http2Transport } from './http2-transport.ts';

/** How an RPC ended. `fault` is undefined for status OK. */
export interface RpcEnd {
  readonly status: number;
  readonly message: string;
  readonly fault: GnmiFault | undefined;
}

export interface RpcHandlers {
  /** Before the messages of each read from the socket, which are all there at one time. */
  readonly onRead?: () => void;
  /** A message, where it lies in the receive buffer. */
  readonly onMessage: MessageReader;
  /** Once, and last. */
  readonly onEnd: (end: RpcEnd) => void;
}

/** A running RPC. */
export interface Rpc {
  /** Sends one message. */
  send(message: Uint8Array): void;
  /** No more messages from us. */
  finish(): void;
  /** Stops reading: the target can send one window more and then waits. */
  pause(): void;
  resume(): void;
  /** Ends the RPC from our side; `onEnd` comes with this fault, or with CANCELLED. */
  cancel(fault?: GnmiFault): void;
}

/** What an RPC knows of its connection. */
export interface CallContext {
  readonly transport: Http2Transport;
  /** The target, for people. */
  readonly at: string;
  /** Not to be repeated. */
  readonly password: string;
  readonly maximumMessageBytes: number;
  /** Why the connection ended, when it did and that is known. */
  connectionFault(): GnmiFault | undefined;
  /** An RPC is over. */
  ended(): void;
}

export class GrpcCall implements Rpc, StreamEvents {
  readonly #context: CallContext;
  readonly #handlers: RpcHandlers;
  readonly #reader: FrameReader;
  readonly #deadline: NodeJS.Timeout | undefined;
  #stream: ClientStream | undefined;
  #headers: readonly HeaderField[] | undefined;
  #trailers: readonly HeaderField[] | undefined;
  #isEnded = false;
  #lastRead = -1;

  constructor(context: CallContext, deadlineMilliseconds: number, handlers: RpcHandlers) {
    this.#context = context;
    this.#handlers = handlers;
    const { onMessage } = handlers;
    this.#reader = new FrameReader(context.maximumMessageBytes, (bytes, view, start, end) => {
      if (!this.#isEnded) onMessage(bytes, view, start, end);
    });
    if (deadlineMilliseconds > 0) {
      const detail = `${context.at} did not finish within ${deadlineMilliseconds} ms`;
      this.#deadline = setTimeout(() => this.cancel({ code: 'timeout', detail }), deadlineMilliseconds);
    }
  }

  /** The stream that carries it; call it once. */
  runOn(stream: ClientStream): void {
    this.#stream = stream;
  }

  /** No stream can carry it. */
  refuse(fault: GnmiFault): void {
    if (!this.#isEnded) this.#end(GrpcStatus.unavailable, fault.detail, fault);
  }

  send(message: Uint8Array): void {
    if (!this.#isEnded && this.#stream !== undefined) {
      this.#context.transport.send(this.#stream, encodeFrame(message));
    }
  }

  finish(): void {
    if (!this.#isEnded && this.#stream !== undefined) this.#context.transport.end(this.#stream);
  }

  pause(): void {
    if (this.#stream !== undefined) this.#context.transport.pause(this.#stream);
  }

  resume(): void {
    if (this.#stream !== undefined) this.#context.transport.resume(this.#stream);
  }

  cancel(fault?: GnmiFault): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#stream !== undefined) this.#context.transport.reset(this.#stream, ErrorCode.cancel);
    if (fault === undefined) this.#end(GrpcStatus.cancelled, 'cancelled', undefined);
    else this.#end(GrpcStatus.unknown, fault.detail, fault);
  }

  onHeaders(fields: readonly HeaderField[]): void {
    this.#headers = fields;
  }

  onTrailers(fields: readonly HeaderField[]): void {
    this.#trailers = fields;
  }

  onData(bytes: Uint8Array, start: number, end: number): void {
    if (this.#isEnded) return;
    const { reads } = this.#context.transport;
    if (reads !== this.#lastRead) {
      this.#lastRead = reads;
      this.#handlers.onRead?.();
    }
    const error = this.#reader.push(bytes, start, end);
    if (error !== undefined) this.cancel(faultOfFrame(error, this.#context.maximumMessageBytes));
  }

  onEnd(): void {
    if (this.#isEnded) return;
    // Our half of the stream, which a Subscribe leaves open.
    if (this.#stream !== undefined) this.#context.transport.end(this.#stream);
    if (!this.#endWithStatus()) this.#endWithoutStatus(undefined);
  }

  onReset(reset: StreamReset): void {
    if (!this.#isEnded && !this.#endWithStatus()) this.#endWithoutStatus(reset);
  }

  #endWithStatus(): boolean {
    const status = statusOf(this.#trailers) ?? statusOf(this.#headers);
    if (status === undefined) return false;
    const message = this.#withoutPassword(
      decodeGrpcMessage(fieldOf(this.#trailers ?? this.#headers, 'grpc-message') ?? ''),
    );
    if (status === GrpcStatus.ok && this.#reader.isMidMessage) {
      const detail = `${this.#context.at} ended the RPC in the middle of a message`;
      this.#end(status, message, { code: 'protocol-error', detail });
    } else this.#end(status, message, status === GrpcStatus.ok ? undefined : faultOfStatus(status, message));
    return true;
  }

  #endWithoutStatus(reset: StreamReset | undefined): void {
    const fault = this.#faultWithoutStatus(reset);
    this.#end(GrpcStatus.unavailable, fault.detail, fault);
  }

  #end(status: number, message: string, fault: GnmiFault | undefined): void {
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    this.#context.ended();
    this.#handlers.onEnd({ status, message, fault });
  }

  /** Targets repeat in their errors what they were sent: gnxi's does so with the password. */
  #withoutPassword(text: string): string {
    const { password } = this.#context;
    return password === '' ? text : text.replaceAll(password, PASSWORD_MASK);
  }

  /** gRPC over HTTP/2: what a status would have been when the peer sent none. */
  #faultWithoutStatus(reset: StreamReset | undefined): GnmiFault {
    const { at } = this.#context;
    const http = Number(fieldOf(this.#headers, ':status') ?? 200);
    if (http === 401) return { code: 'authentication', detail: `${at} answered HTTP 401` };
    if (http === 403) return { code: 'permission', detail: `${at} answered HTTP 403` };
    if (http === 404) return { code: 'unimplemented', detail: `${at} answered HTTP 404: no gNMI there` };
    if (http !== 200) {
      return { code: http >= 500 ? 'unreachable' : 'protocol-error', detail: `${at} answered HTTP ${http}` };
    }
    const connectionFault = this.#context.connectionFault();
    if (connectionFault !== undefined) return connectionFault;
    const type = fieldOf(this.#headers, 'content-type');
    if (type !== undefined && !type.startsWith('application/grpc')) {
      return { code: 'protocol-error', detail: `${at} answers ${type}, not gRPC` };
    }
    if (reset === undefined) {
      return { code: 'protocol-error', detail: `${at} ended the RPC without a status` };
    }
    const { code, reason, detail } = reset;
    if (reason === 'connection') return { code: 'unreachable', detail: `${at} closed the connection` };
    if (reason === 'malformed') {
      return {
        code: 'protocol-error',
        detail: `${at} does not speak HTTP/2 as it must: ${errorName(code)}: ${detail}`,
      };
    }
    if (code === ErrorCode.refusedStream || code === ErrorCode.enhanceYourCalm) {
      return { code: 'unreachable', detail: `${at} takes no more streams (RST_STREAM ${errorName(code)})` };
    }
    if (code === ErrorCode.cancel) {
      return { code: 'unreachable', detail: `${at} cancelled the RPC (RST_STREAM CANCEL)` };
    }
    return {
      code: 'protocol-error',
      detail: `${at} ended the RPC without a status (RST_STREAM ${errorName(code)})`,
    };
  }
}

function fieldOf(fields: readonly HeaderField[] | undefined, name: string): string | undefined {
  return fields?.find((field) => field[0] === name)?.[1];
}

function statusOf(fields: readonly HeaderField[] | undefined): number | undefined {
  const status = fieldOf(fields, 'grpc-status');
  return status !== undefined && /^\d+$/.test(status) ? Number(status) : undefined;
}

function faultOfFrame(error: FrameError, maximumBytes: number): GnmiFault {
  return error.code === 'too-large'
    ? { code: 'too-large', detail: `a message of ${error.bytes} bytes; at most ${maximumBytes} are taken` }
    : { code: 'protocol-error', detail: `a message with flag ${error.flag}: we asked for no compression` };
}
