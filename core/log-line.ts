/** One line of JSON of a structured log, as CloudWatch Logs Insights reads it: of functions and of workers alike. */
export type LogLevel = 'info' | 'warn' | 'error';

/** What says who speaks: `graticule` for functions, `graticule-worker` for workers. */
export interface LogSource {
  readonly service: string;
  readonly now: Date;
}

export function formatLogLine(
  level: LogLevel,
  message: string,
  { service, now }: LogSource,
  fields: Readonly<Record<string, unknown>>,
): string {
  const line = { level: level.toUpperCase(), message, timestamp: now.toISOString(), service };
  return JSON.stringify({ ...line, ...fields });
}

/** An error as fields of a log line. */
export function errorFields(error: unknown): Record<string, unknown> {
  return error instanceof Error
    ? { error: error.name, detail: error.message, stack: error.stack }
    : { error: String(error) };
}
