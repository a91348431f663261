/** gnmi.Path messages as paths, and back. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { isNested } from './nesting.ts';
import { type Path, type PathElem, parsePath, ROOT_PATH, sortKeys } from './path.ts';
import { type PathMessage, PathSchema } from './schema.ts';
import { decodeText, readLength, type Varint } from './wire.ts';

/** Decodes a Path message, in the plain form or with deprecated string elements; undefined when it is none. */
export function decodePath(bytes: Uint8Array): Path | undefined {
  const varint: Varint = { hi: 0, lo: 0, next: 0 };
  const elem: PathElem[] = [];
  let origin = '';
  let target = '';
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] as number;
    if (tag !== 0x12 && tag !== 0x1a && tag !== 0x22) return decodeOddPath(bytes);
    const length = readLength(bytes, at + 1, bytes.length, varint);
    if (length === -1) return undefined;
    const start = varint.next;
    at = start + length;
    if (tag === 0x12) origin = decodeText(bytes, start, at);
    else if (tag === 0x22) target = decodeText(bytes, start, at);
    else {
      const read = decodePathElem(bytes, start, at);
      if (read === undefined) return decodeOddPath(bytes);
      elem.push(read);
    }
  }
  return { origin, target, elem };
}

/** Undefined for whatever is not plainly a name and keys. */
function decodePathElem(bytes: Uint8Array, start: number, end: number): PathElem | undefined {
  const varint: Varint = { hi: 0, lo: 0, next: 0 };
  const keys = new Map<string, string>();
  let name = '';
  let at = start;
  while (at < end) {
    const tag = bytes[at] as number;
    if (tag !== 0x0a && tag !== 0x12) return undefined;
    const length = readLength(bytes, at + 1, end, varint);
    if (length === -1) return undefined;
    const from = varint.next;
    at = from + length;
    if (tag === 0x0a) {
      name = decodeText(bytes, from, at);
      continue;
    }
    let key = '';
    let value = '';
    let inner = from;
    while (inner < at) {
      const innerTag = bytes[inner] as number;
      if (innerTag !== 0x0a && innerTag !== 0x12) return undefined;
      const innerLength = readLength(bytes, inner + 1, at, varint);
      if (innerLength === -1) return undefined;
      const innerStart = varint.next;
      inner = innerStart + innerLength;
      if (innerTag === 0x0a) key = decodeText(bytes, innerStart, inner);
      else value = decodeText(bytes, innerStart, inner);
    }
    keys.set(key, value);
  }
  return { name, keys: sortKeys([...keys]) };
}

function decodeOddPath(bytes: Uint8Array): Path | undefined {
  let message: PathMessage;
  try {
    if (!isNested(PathSchema, bytes)) return undefined;
    message = fromBinary(PathSchema, bytes, { readUnknownFields: false });
  } catch {
    return undefined;
  }
  return pathFromMessage(message);
}

/** The path of a decoded message. String elements count only where there are no PathElems. */
export function pathFromMessage(message: PathMessage | undefined): Path {
  if (message === undefined) return ROOT_PATH;
  const elem: PathElem[] =
    message.elem.length > 0 || message.element.length === 0
      ? message.elem.map(({ name, key }) => ({ name, keys: sortKeys(Object.entries(key)) }))
      : message.element.map(stringElement);
  return { origin: message.origin, target: message.target, elem };
}

/** `interface[name=eth0]` of the deprecated form; what is not written so is a name as it stands. */
function stringElement(text: string): PathElem {
  const parsed = text.includes('[') ? parsePath(`/${text.replaceAll('/', '\\/')}`) : undefined;
  const elem = parsed?.path?.elem;
  return elem?.length === 1 ? (elem[0] as PathElem) : { name: text, keys: [] };
}

/** The Path as a message for a request. */
export function pathToMessage(path: Path): PathMessage {
  const key = (elem: PathElem): { [name: string]: string } => Object.fromEntries(elem.keys);
  return {
    $typeName: 'gnmi.Path',
    element: [],
    origin: path.origin,
    target: path.target,
    elem: path.elem.map((elem) => ({ $typeName: 'gnmi.PathElem', name: elem.name, key: key(elem) })),
  };
}

/** The same path in the plain form: PathElems, no target, no unknown fields. Undefined when it is no Path message. */
export function plainPathBytes(bytes: Uint8Array): Uint8Array | undefined {
  const path = decodeOddPath(bytes);
  return path === undefined ? undefined : toBinary(PathSchema, pathToMessage({ ...path, target: '' }));
}
