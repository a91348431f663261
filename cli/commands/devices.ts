import { type Command, cell, findByWord, objects, show, takeWords, usageFailure } from '../command.ts';
import { EXIT } from '../exit-code.ts';
import type { JsonObject } from '../json-text.ts';
import type { Column } from '../table.ts';

const DEVICES = '/api/v1/devices';

const state = (device: JsonObject, protocol: 'gnmi' | 'snmp') =>
  device[protocol] === null ? '-' : cell(device, 'status', protocol, 'state');

const COLUMNS: ReadonlyArray<Column<JsonObject>> = [
  { title: 'ID', value: (device) => cell(device, 'id') },
  { title: 'NAME', value: (device) => cell(device, 'name') },
  { title: 'ADDRESS', value: (device) => cell(device, 'address') },
  { title: 'NETOS', value: (device) => cell(device, 'netos') },
  { title: 'ENABLED', value: (device) => cell(device, 'enabled') },
  { title: 'GNMI', value: (device) => state(device, 'gnmi') },
  { title: 'SNMP', value: (device) => state(device, 'snmp') },
  { title: 'REASON', value: (device) => cell(device, 'status', 'reason') || '-' },
];

export const devicesCommand: Command = {
  name: 'devices',
  summary: 'devices that telemetry is collected from',
  usage: ['devices', 'devices get DEVICE'],
  flags: {},
  help: 'DEVICE is an id or a name. Devices are created and changed by apply.',
  async run(context) {
    const [action = 'list', word] = takeWords(context, 2);
    if (action !== 'list' && action !== 'get')
      throw usageFailure(`devices ${action} is not known; see graticule help devices`);
    const devices = objects(await context.client.list(DEVICES));
    if (action === 'list') {
      show(context, devices, devices, COLUMNS, 'There are no devices.');
    } else {
      const device = findByWord(devices, word, 'device');
      show(context, device, [device], COLUMNS, '');
    }
    return EXIT.ok;
  },
};
