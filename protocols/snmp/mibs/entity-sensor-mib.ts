/** Sensors of physical entities (RFC 3433). */
import type { MibModule } from '../mib.ts';

export const ENTITY_SENSOR_MIB: MibModule = {
  name: 'ENTITY-SENSOR-MIB',
  source: 'RFC 3433',
  scalars: [],
  tables: [
    {
      entry: 'entPhySensorEntry',
      oid: '1.3.6.1.2.1.99.1.1.1',
      index: ['entPhysicalIndex'],
      columns: [
        [1, 'entPhySensorType', 'Integer32', 'EntitySensorDataType'],
        [2, 'entPhySensorScale', 'Integer32', 'EntitySensorDataScale'],
        [3, 'entPhySensorPrecision', 'Integer32', 'EntitySensorPrecision'],
        [4, 'entPhySensorValue', 'Integer32', 'EntitySensorValue'],
        [5, 'entPhySensorOperStatus', 'Integer32', 'EntitySensorStatus'],
        [6, 'entPhySensorUnitsDisplay', 'OctetString', 'SnmpAdminString'],
        [7, 'entPhySensorValueTimeStamp', 'TimeTicks', 'TimeStamp'],
        [8, 'entPhySensorValueUpdateRate', 'Unsigned32'],
      ],
    },
  ],
};
