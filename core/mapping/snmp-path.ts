import { counter64Of, type ObjectPath, parseObjectPath } from '../../protocols/snmp/mib.ts';
import { formatOid } from '../../protocols/snmp/oid.ts';
import type { PathWarning } from './warnings.ts';

/** What is odd about an SNMP path, or undefined. */
export function snmpPathWarning(text: string): PathWarning | undefined {
  const path = parseObjectPath(text);
  if (path === undefined) {
    const looksNumeric = /^[\d.\s]+$/.test(text);
    return looksNumeric
      ? { code: 'unparsable', detail: `${text} is no object identifier` }
      : {
          code: 'non-numeric-oid',
          detail: `${text} is neither a numeric OID nor a MIB::name that is known here`,
        };
  }
  return scalarWithoutInstance(path) ?? narrowCounter(path);
}

function scalarWithoutInstance({ object, oid, instance }: ObjectPath): PathWarning | undefined {
  if (object?.kind !== 'scalar' || instance.length > 0) return undefined;
  return {
    code: 'scalar-without-instance',
    detail: `${object.name} is a scalar: its value is at ${formatOid(oid)}.0`,
  };
}

function narrowCounter({ object }: ObjectPath): PathWarning | undefined {
  const wide = object === undefined ? undefined : counter64Of(object);
  return wide === undefined || object === undefined
    ? undefined
    : {
        code: 'counter32-has-counter64',
        detail: `${object.name} has 32 bits and wraps within minutes on fast interfaces; ${wide.module}::${wide.name} has 64`,
      };
}
