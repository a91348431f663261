/** Many simulated devices as a process of their own: `node fleet.ts COUNT PORT`, one address each from 127.1.0.1 on. */
import { interfaceObjects } from '../../support/snmp-agent/tables.ts';
import { UdpAgent } from '../../support/snmp-agent/udp-agent.ts';

const [count = 1_000, port = 16_261, interfaces = 30] = process.argv.slice(2).map(Number);

for (let number = 1; number <= count; number += 1) {
  const address = `127.1.${number >> 8}.${number & 0xff}`;
  await new UdpAgent({ address, port, objects: interfaceObjects(`device${number}`, interfaces) }).start();
}
console.log('ready');
// Ends with the one who started it.
process.stdin.on('close', () => process.exit(0)).resume();
