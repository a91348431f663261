/** Pseudonodes: LANs that an IGP makes into nodes. RFC 9552 §5.2.1.4 tells them by the length of the IGP Router-ID. */
import { type LinkStateSafi, ProtocolId } from '../../protocols/bgp/ls/code-point.ts';
import { NlriScan } from '../../protocols/bgp/ls/nlri-scan.ts';

const IGP_ROUTER_ID = 515;
const scan = new NlriScan();

/** Whether a node's NLRI, its own or the one that it would have, is that of a pseudonode. */
export function isPseudonode(safi: LinkStateSafi, octets: Uint8Array): boolean {
  if (!scan.scan(octets, 0, octets.length, safi)) return false;
  let at = scan.localStart;
  while (at >= 0 && at + 4 <= scan.localEnd) {
    const type = ((octets[at] as number) << 8) | (octets[at + 1] as number);
    const length = ((octets[at + 2] as number) << 8) | (octets[at + 3] as number);
    if (type === IGP_ROUTER_ID) return isPseudonodeLength(scan.protocolId, length);
    at += 4 + length;
  }
  return false;
}

function isPseudonodeLength(protocolId: number, octets: number): boolean {
  switch (protocolId) {
    case ProtocolId.isisLevel1:
    case ProtocolId.isisLevel2:
      return octets === 7;
    case ProtocolId.ospfv2:
    case ProtocolId.ospfv3:
      return octets === 8;
    default:
      return false;
  }
}
