import { formatLogLine, type LogLevel } from '../core/log-line.ts';

/** One structured line on standard output. Never given a secret: callers pass ids, states and sentences. */
export function log(level: LogLevel, message: string, fields: Record<string, unknown> = {}): void {
  const source = { service: 'graticule-worker', now: new Date() };
  process.stdout.write(`${formatLogLine(level, message, source, fields)}\n`);
}
