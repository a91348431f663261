/** Physical and logical entities (RFC 4133; RFC 6933 adds columns that are not here). */
import type { MibModule } from '../mib.ts';

export const ENTITY_MIB: MibModule = {
  name: 'ENTITY-MIB',
  source: 'RFC 4133',
  scalars: [['entLastChangeTime', '1.3.6.1.2.1.47.1.4.1', 'TimeTicks', 'TimeStamp']],
  tables: [
    {
      entry: 'entPhysicalEntry',
      oid: '1.3.6.1.2.1.47.1.1.1.1',
      index: ['entPhysicalIndex'],
      notAccessible: ['entPhysicalIndex'],
      columns: [
        [1, 'entPhysicalIndex', 'Integer32', 'PhysicalIndex'],
        [2, 'entPhysicalDescr', 'OctetString', 'SnmpAdminString'],
        [3, 'entPhysicalVendorType', 'ObjectIdentifier', 'AutonomousType'],
        [4, 'entPhysicalContainedIn', 'Integer32', 'PhysicalIndexOrZero'],
        [5, 'entPhysicalClass', 'Integer32', 'PhysicalClass'],
        [6, 'entPhysicalParentRelPos', 'Integer32'],
        [7, 'entPhysicalName', 'OctetString', 'SnmpAdminString'],
        [8, 'entPhysicalHardwareRev', 'OctetString', 'SnmpAdminString'],
        [9, 'entPhysicalFirmwareRev', 'OctetString', 'SnmpAdminString'],
        [10, 'entPhysicalSoftwareRev', 'OctetString', 'SnmpAdminString'],
        [11, 'entPhysicalSerialNum', 'OctetString', 'SnmpAdminString'],
        [12, 'entPhysicalMfgName', 'OctetString', 'SnmpAdminString'],
        [13, 'entPhysicalModelName', 'OctetString', 'SnmpAdminString'],
        [14, 'entPhysicalAlias', 'OctetString', 'SnmpAdminString'],
        [15, 'entPhysicalAssetID', 'OctetString', 'SnmpAdminString'],
        [16, 'entPhysicalIsFRU', 'Integer32', 'TruthValue'],
        [17, 'entPhysicalMfgDate', 'OctetString', 'DateAndTime'],
        [18, 'entPhysicalUris', 'OctetString'],
      ],
    },
    {
      entry: 'entLogicalEntry',
      oid: '1.3.6.1.2.1.47.1.2.1.1',
      index: ['entLogicalIndex'],
      notAccessible: ['entLogicalIndex'],
      columns: [
        [1, 'entLogicalIndex', 'Integer32'],
        [2, 'entLogicalDescr', 'OctetString', 'SnmpAdminString'],
        [3, 'entLogicalType', 'ObjectIdentifier', 'AutonomousType'],
        [4, 'entLogicalCommunity', 'OctetString'],
        [5, 'entLogicalTAddress', 'OctetString', 'TAddress'],
        [6, 'entLogicalTDomain', 'ObjectIdentifier', 'TDomain'],
        [7, 'entLogicalContextEngineID', 'OctetString', 'SnmpEngineIdOrNone'],
        [8, 'entLogicalContextName', 'OctetString', 'SnmpAdminString'],
      ],
    },
    {
      entry: 'entLPMappingEntry',
      oid: '1.3.6.1.2.1.47.1.3.1.1',
      index: ['entLogicalIndex', 'entLPPhysicalIndex'],
      columns: [[1, 'entLPPhysicalIndex', 'Integer32', 'PhysicalIndex']],
    },
    {
      entry: 'entAliasMappingEntry',
      oid: '1.3.6.1.2.1.47.1.3.2.1',
      index: ['entPhysicalIndex', 'entAliasLogicalIndexOrZero'],
      notAccessible: ['entAliasLogicalIndexOrZero'],
      columns: [
        [1, 'entAliasLogicalIndexOrZero', 'Integer32'],
        [2, 'entAliasMappingIdentifier', 'ObjectIdentifier', 'RowPointer'],
      ],
    },
    {
      entry: 'entPhysicalContainsEntry',
      oid: '1.3.6.1.2.1.47.1.3.3.1',
      index: ['entPhysicalIndex', 'entPhysicalChildIndex'],
      columns: [[1, 'entPhysicalChildIndex', 'Integer32', 'PhysicalIndex']],
    },
  ],
};
