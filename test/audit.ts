/**
 * `npm run audit`: what the registry knows of faults in what is deployed. Ends with 0 where it knows of none, with 1 where
 * it knows of some, and with 2 where nobody answered: that is no clean audit.
 */
import { spawnSync } from 'node:child_process';

export interface Outcome {
  readonly line: string;
  readonly exitCode: 0 | 1 | 2;
}

/** What `npm audit --omit=dev --json` printed, read. */
export function auditOutcome(stdout: string, stderr: string): Outcome {
  const report = parsed(stdout);
  const counts = report?.metadata?.vulnerabilities;
  if (counts?.total === undefined) {
    const said = report?.message ?? /npm (?:error|warn audit) (.*)/.exec(stderr)?.[1];
    return {
      line: `audit: NOT DONE, nothing is known either way: ${said ?? 'npm said nothing'}`,
      exitCode: 2,
    };
  }
  const { total, ...bySeverity } = counts;
  const line = `audit: ${total} known faults in what is deployed ${JSON.stringify(bySeverity)}`;
  return { line, exitCode: total === 0 ? 0 : 1 };
}

interface Report {
  /** Of an audit that failed. */
  readonly message?: string;
  readonly metadata?: { readonly vulnerabilities?: Readonly<Record<string, number>> };
}

function parsed(text: string): Report | null {
  try {
    return JSON.parse(text) as Report | null;
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const { stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  const { line, exitCode } = auditOutcome(stdout ?? '', stderr ?? '');
  console.log(line);
  process.exitCode = exitCode;
}
