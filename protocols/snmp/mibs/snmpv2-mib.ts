/** The system group (RFC 3418). */
import type { MibModule } from '../mib.ts';

export const SNMPV2_MIB: MibModule = {
  name: 'SNMPv2-MIB',
  source: 'RFC 3418',
  scalars: [
    ['sysDescr', '1.3.6.1.2.1.1.1', 'OctetString', 'DisplayString'],
    ['sysObjectID', '1.3.6.1.2.1.1.2', 'ObjectIdentifier'],
    ['sysUpTime', '1.3.6.1.2.1.1.3', 'TimeTicks'],
    ['sysContact', '1.3.6.1.2.1.1.4', 'OctetString', 'DisplayString'],
    ['sysName', '1.3.6.1.2.1.1.5', 'OctetString', 'DisplayString'],
    ['sysLocation', '1.3.6.1.2.1.1.6', 'OctetString', 'DisplayString'],
    ['sysServices', '1.3.6.1.2.1.1.7', 'Integer32'],
    ['sysORLastChange', '1.3.6.1.2.1.1.8', 'TimeTicks', 'TimeStamp'],
  ],
  tables: [
    {
      entry: 'sysOREntry',
      oid: '1.3.6.1.2.1.1.9.1',
      index: ['sysORIndex'],
      notAccessible: ['sysORIndex'],
      columns: [
        [1, 'sysORIndex', 'Integer32'],
        [2, 'sysORID', 'ObjectIdentifier'],
        [3, 'sysORDescr', 'OctetString', 'DisplayString'],
        [4, 'sysORUpTime', 'TimeTicks', 'TimeStamp'],
      ],
    },
  ],
};
