import { formatIpAddress, parseIpAddress } from '../ip-address.ts';

/** An address in its canonical text (RFC 5952), a zone kept as it is; from text or from its 4 or 16 octets. */
export function canonicalIpAddress(address: string | Uint8Array): string | undefined {
  if (typeof address !== 'string') {
    return formatIpAddress({ family: address.length === 4 ? 4 : 6, bytes: address });
  }
  const [literal, zone, ...rest] = address.split('%');
  const parsed = parseIpAddress(literal as string);
  if (parsed === undefined || rest.length > 0 || zone === '') return undefined;
  return `${formatIpAddress(parsed)}${zone === undefined ? '' : `%${zone}`}`;
}

/** `aa:bb:cc:dd:ee:ff` from six pairs with `:` or `-`, three groups with `.`, or twelve digits. */
export function parseMacAddress(text: string): string | undefined {
  const isMac =
    /^[0-9a-f]{1,2}([:-][0-9a-f]{1,2}){5}$/i.test(text) ||
    /^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}$/i.test(text) ||
    /^[0-9a-f]{12}$/i.test(text);
  if (!isMac) return undefined;
  const groups = text.toLowerCase().split(/[:-]/);
  const digits = groups.length === 6 ? groups.map((group) => group.padStart(2, '0')) : [];
  const all = digits.length === 6 ? digits.join('') : text.toLowerCase().replaceAll('.', '');
  return (all.match(/../g) as string[]).join(':');
}

/** Six octets as `aa:bb:cc:dd:ee:ff`. */
export function formatMacAddress(octets: Uint8Array): string {
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join(':');
}
