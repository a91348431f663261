import type { StringEntries } from '../string-map.ts';
import { type GnmiPath, parseGnmiPath, splitAlternatives } from './path.ts';
import { snmpPathWarning } from './snmp-path.ts';

/** A note about a mapping that nobody is stopped by: most often a typo that would collect nothing. */
export interface MappingWarning {
  readonly field: string;
  /** The alternative that is meant. */
  readonly path: string;
  readonly code: WarningCode;
  readonly detail: string;
}

export type WarningCode =
  | 'unbalanced-brackets'
  | 'no-leading-slash'
  | 'empty-key'
  | 'list-without-key'
  | 'unknown-origin'
  | 'non-numeric-oid'
  | 'scalar-without-instance'
  | 'counter32-has-counter64'
  | 'unknown-field'
  | 'unparsable';

export interface PathWarning {
  readonly code: WarningCode;
  readonly detail: string;
}

/** Everything that is odd about a mapping, field by field in the order given. */
export function mappingWarnings(
  protocol: 'gnmi' | 'snmp',
  netos: string,
  fieldMappings: StringEntries,
  fieldNames: readonly string[],
): MappingWarning[] {
  const known = new Set(fieldNames);
  return fieldMappings.flatMap(([field, text]) => {
    const warnings: MappingWarning[] = [];
    if (!known.has(field)) {
      warnings.push({ field, path: text, code: 'unknown-field', detail: `the model has no field ${field}` });
    }
    for (const path of splitAlternatives(text)) {
      const found = protocol === 'gnmi' ? gnmiPathWarning(netos, path) : snmpPathWarning(path);
      if (found !== undefined) warnings.push({ field, path, ...found });
    }
    return warnings;
  });
}

function gnmiPathWarning(netos: string, text: string): PathWarning | undefined {
  const path = parseGnmiPath(text);
  if ('code' in path) return path;
  return unknownOrigin(netos, path) ?? listWithoutKey(netos, path);
}

/**
 * Lists of the models that people collect most (OpenConfig, SR Linux, IETF), whose keys some systems want written.
 * Without the device's YANG no one can know all of them; this names those that a mapping most likely means.
 */
const WELL_KNOWN_LISTS = new Set([
  'interface',
  'subinterface',
  'network-instance',
  'protocol',
  'neighbor',
  'peer-group',
  'component',
  'cpu',
  'queue',
  'afi-safi',
  'static-route',
  'sensor',
]);

/** Systems that answer nothing, or an error, for a list whose keys are left out (research: IOS-XE, SONiC, SR Linux). */
const WANTS_KEYS = /^(ios-?xe|sonic|srlinux|nx-?os)$/;

function listWithoutKey(netos: string, { elements }: GnmiPath): PathWarning | undefined {
  if (!WANTS_KEYS.test(netos)) return undefined;
  // The last element is the leaf that is asked for, whatever it is called.
  const bare = elements
    .slice(0, -1)
    .find(({ name, keys }) => WELL_KNOWN_LISTS.has(name) && keys.length === 0);
  return bare === undefined
    ? undefined
    : {
        code: 'list-without-key',
        detail: `${bare.name} is a list and ${netos} may want its keys: write ${bare.name}[name=*], with the list's own key`,
      };
}

/** Origins that devices know, beside the names of YANG modules. */
const ORIGINS =
  /^(openconfig|ietf|rfc7951|cli|[a-z]+_cli|native|eos_native|srl_nokia|gnmi\.schemas|DME|device|YANG)$/;
const MODULE_ORIGINS =
  /^(openconfig|ietf|srl_nokia|nokia|Cisco-[A-Za-z]+|huawei|junos|arista|Ciena|ciena)-[A-Za-z0-9_.-]+$/;

function unknownOrigin(netos: string, { origin }: GnmiPath): PathWarning | undefined {
  if (origin === '' || MODULE_ORIGINS.test(origin)) return undefined;
  const isForeign = origin === 'eos_native' && !/^(eos|arista.*|\*)$/.test(netos);
  if (ORIGINS.test(origin) && !isForeign) return undefined;
  return {
    code: 'unknown-origin',
    detail: isForeign
      ? `${origin} is an origin of Arista EOS, not of ${netos}`
      : `${origin} is no origin that is known here; devices answer nothing for one that they do not know`,
  };
}
