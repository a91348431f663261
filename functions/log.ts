import { ENV } from '../contract/env.ts';
import { formatLogLine, type LogLevel } from '../core/log-line.ts';

/** From the least to the most urgent, as operators name them in the environment. */
const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'SILENT'];

/**
 * One structured line on standard output, unless the environment asks for more urgent ones only. Never given a secret:
 * callers pass ids, counts and sentences.
 */
export function log(level: LogLevel, message: string, fields: Record<string, unknown> = {}): void {
  const least = LEVELS.indexOf((process.env[ENV.logLevel] ?? '').toUpperCase());
  if (LEVELS.indexOf(level.toUpperCase()) < least) return;
  // Not by `console`, before whose lines Lambda puts words of its own.
  process.stdout.write(
    `${formatLogLine(level, message, { service: 'graticule', now: new Date() }, fields)}\n`,
  );
}
