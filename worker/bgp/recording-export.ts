/** `node worker/bgp/recording-export.ts peer-7.jsonl peer-7.pcap`: a recording for a ticket with the peer's vendor. */
import { readFileSync, writeFileSync } from 'node:fs';
import { encodePcap } from '../../protocols/bgp/pcap.ts';
import { parseRecording } from '../../protocols/bgp/recording.ts';

export function exportRecording(recordingPath: string, pcapPath: string): void {
  writeFileSync(pcapPath, encodePcap(parseRecording(readFileSync(recordingPath, 'utf8'))), { mode: 0o600 });
}

if (process.argv[1] === import.meta.filename) {
  const [recordingPath, pcapPath] = process.argv.slice(2);
  if (recordingPath === undefined || pcapPath === undefined) {
    console.error('usage: node worker/bgp/recording-export.ts RECORDING.jsonl OUTPUT.pcap');
    process.exitCode = 2;
  } else {
    exportRecording(recordingPath, pcapPath);
  }
}
