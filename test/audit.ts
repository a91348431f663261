/** `npm run audit`: what the registry knows of faults in what is deployed. Fails on any; says so where nobody answers. */
import { spawnSync } from 'node:child_process';

const { stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  timeout: 60_000,
});
const report = parsed(stdout);
const counts = report?.metadata?.vulnerabilities;
if (counts === undefined) {
  const why = /audit (\d{3} .*)/.exec(stderr)?.[1] ?? 'no answer';
  console.log(`audit: not done, the registry does not answer: ${why}`);
} else {
  const { total = 0, ...bySeverity } = counts;
  console.log(`audit: ${total} known faults in what is deployed ${JSON.stringify(bySeverity)}`);
  process.exitCode = total === 0 ? 0 : 1;
}

interface Report {
  readonly metadata?: { readonly vulnerabilities?: Readonly<Record<string, number>> };
}

function parsed(text: string): Report | undefined {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return undefined;
  }
}
