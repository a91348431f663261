/**
 * Writes protocols/bgp/ls/README.md from the TLV rows and the vectors: `node test/protocols/bgp/ls/coverage.ts`. A
 * test fails when the page is not what this would write.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ATTRIBUTE_ROWS } from '../../../../protocols/bgp/ls/attribute.ts';
import {
  LINK_DESCRIPTOR_ROWS,
  NODE_DESCRIPTOR_ROWS,
  NODE_DESCRIPTORS_ROWS,
  PREFIX_DESCRIPTOR_ROWS,
  SR_POLICY_DESCRIPTOR_ROWS,
  SRV6_SID_DESCRIPTOR_ROWS,
  STUB_LINK_DESCRIPTOR_ROWS,
} from '../../../../protocols/bgp/ls/descriptor.ts';
import { FLEX_ALGO_SUB_ROWS } from '../../../../protocols/bgp/ls/tlv-flex-algo.ts';
import { CONSTRAINT_ROWS, SEGMENT_LIST_ROWS } from '../../../../protocols/bgp/ls/tlv-policy-parts.ts';
import { attributeVectors, nlriVectors } from '../../../support/link-state-vectors.ts';

export const COVERAGE_PAGE = join(import.meta.dirname, '../../../../protocols/bgp/ls/README.md');

interface Row {
  readonly code: number;
  readonly in: string;
  readonly name: string;
  readonly title: string;
  readonly rfc: string;
}

/** TLVs in captures that are not in this repository: the tests read them from `GRATICULE_VECTORS`. */
const CAPTURED: readonly {
  readonly origin: string;
  readonly in: RegExp;
  readonly codes: readonly number[];
}[] = [
  {
    origin: 'FRR 10.7 capture',
    in: /attribute/,
    codes: [263, 266, 1026, 1027, 1028, 1029, 1034, 1155, 1158],
  },
  {
    origin: 'FRR 10.7 capture',
    in: /attribute/,
    codes: [1088, 1089, 1090, 1091, 1092, 1095, 1114, 1115, 1116],
  },
  { origin: 'FRR 10.7 capture', in: /nlri|descriptor/, codes: [256, 257, 259, 260, 261, 262, 263, 265, 515] },
  { origin: 'ExaBGP bgp-ls-1 to -6', in: /nlri|node-descriptor/, codes: [256, 257, 512, 513, 514, 515] },
  { origin: 'ExaBGP bgp-ls-4', in: /attribute/, codes: [258] },
  { origin: 'ExaBGP bgp-ls-6', in: /attribute/, codes: [1030, 1031, 1106, 1122, 1252] },
  { origin: 'ExaBGP bgp-ls-6', in: /link-descriptor/, codes: [258, 263] },
];

/** Where the members of a place's rows stand in a vector's value. */
const WITHIN: Record<string, string> = {
  'flexible-algorithm-definition': 'flexible-algorithm-definitions',
  'sr-policy-constraints': 'candidate-path-constraints',
  'segment-list': 'segment-lists',
};

function originsOf(row: Row): string[] {
  const origins = CAPTURED.filter(
    (capture) => capture.in.test(row.in) && capture.codes.includes(row.code),
  ).map(({ origin }) => origin);
  if (row.in === 'attribute' || row.in in WITHIN) {
    const container = WITHIN[row.in];
    for (const { value, source } of attributeVectors()) {
      const objects = container === undefined ? [value] : [value[container] ?? []].flat();
      if (objects.some((object) => row.name in (object as object))) origins.push(source);
    }
  } else {
    for (const { value, source } of nlriVectors()) {
      const nodes = [value['localNode'], value['remoteNode']].filter((node) => node != null);
      const isThere =
        row.in === 'nlri'
          ? value[row.code === 256 ? 'localNode' : 'remoteNode'] != null
          : row.in === 'node-descriptor'
            ? nodes.some((node) => row.name in (node as object))
            : row.in.startsWith(String(value['type']).replace(/^ipv[46]-/, '')) &&
              hasMember(value.descriptor, row.name);
      if (isThere) origins.push(source);
    }
  }
  return [...new Set(origins.map((origin) => origin.replace(/,.*/, '')))];
}

function hasMember(descriptor: Record<string, unknown>, name: string): boolean {
  const member = descriptor[name];
  return member !== undefined && !(Array.isArray(member) && member.length === 0);
}

function table(rows: readonly Row[]): string {
  const lines = [...rows]
    .sort((a, b) => a.code - b.code)
    .map((row) => {
      const origins = originsOf(row);
      const proof = origins.length === 0 ? '**unproven**' : origins.join('; ');
      return `| ${row.code} | ${row.title} | \`${row.name}\` | ${row.rfc} | ${proof} |`;
    });
  return ['| Code | Name | Member | Defined in | Vector made by |', '|---|---|---|---|---|', ...lines].join(
    '\n',
  );
}

const ROWS: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  ['NLRI', NODE_DESCRIPTORS_ROWS],
  ['Node descriptors', NODE_DESCRIPTOR_ROWS],
  ['Link descriptors', LINK_DESCRIPTOR_ROWS],
  ['Stub link descriptors', STUB_LINK_DESCRIPTOR_ROWS],
  ['Prefix descriptors', PREFIX_DESCRIPTOR_ROWS],
  ['SRv6 SID descriptors', SRV6_SID_DESCRIPTOR_ROWS],
  ['SR policy descriptors', SR_POLICY_DESCRIPTOR_ROWS],
  ['BGP-LS Attribute', ATTRIBUTE_ROWS],
  ['In a Flexible Algorithm Definition (1039)', FLEX_ALGO_SUB_ROWS],
  ['In SR CP Constraints (1204)', CONSTRAINT_ROWS],
  ['In an SR Segment List (1205)', SEGMENT_LIST_ROWS],
];

export const ALL_ROWS: readonly Row[] = ROWS.flatMap(([, rows]) => rows);

export function coveragePage(): string {
  const unproven = ALL_ROWS.filter((row) => originsOf(row).length === 0);
  const sections = ROWS.map(([title, rows]) => `## ${title}\n\n${table(rows)}\n`);
  return `# BGP Link-State

Written by \`node test/protocols/bgp/ls/coverage.ts\` from the rows of this folder; do not edit.

NLRI types 1 to 7 and any other as hex, SAFI 71 and 72. Each row below decodes and encodes; what has no row keeps its
bytes under \`unknown-tlvs\`. Round trips with random values, mutated bytes and, where GoBGP v4.8.0 knows the TLV, a
comparison with its reading are run for every row. The last column says whose bytes prove a row besides: bytes that our
encoder did not make. ${unproven.length} of ${ALL_ROWS.length} rows have none and rest on the text of their RFC alone (their lengths are also those
of FRR's table of TLVs, bgp_linkstate_tlv.c of 2023); they are marked unproven:
${unproven
  .map(({ code }) => code)
  .sort((a, b) => a - b)
  .join(', ')}.

${sections.join('\n')}
## Left as hex

Drafts other than stub link: 535, 550 to 553, 555 to 557, 1160, 1200. SID/Label (1161) stands only within 1034 and 1036.

## Known differences

- IGP Metric (1095) of one octet: six bits count, RFC 9552 §5.3.2.4. FRR 10.7 puts every IS-IS metric below 256 into
  one octet, so its metrics from 64 to 255 read as their rest by 64, with the problem \`invalid-value\`.
  docs/decisions/0053.
- Flexible Algorithm Unsupported (1046): types of one octet from IS-IS and of two from OSPF, RFC 9351 §3.6, as
  OpenDaylight reads them. GoBGP v4.8.0 reads and writes two for IS-IS too, with the code points of BGP-LS.
- IGP Metric (1095) of an OSPF link has two octets, RFC 9552 §5.3.2.4. IOS XR 26.1.1 sends three, which read as well.
- A SID/Label of four octets in 1034 or 1036 is shown as \`sid-label\` like one of three; it encodes to three when it fits.
- GoBGP v4.8.0 writes TLV 263 behind 518 in an SRv6 SID NLRI, against RFC 9552 §5.1; such NLRIs are kept and counted.
`;
}

if (import.meta.main) writeFileSync(COVERAGE_PAGE, coveragePage());
