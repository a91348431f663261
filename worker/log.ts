/** One structured line on standard output. Never given a secret: callers pass ids, states and sentences. */
export function log(
  level: 'info' | 'warn' | 'error',
  message: string,
  fields: Record<string, unknown> = {},
): void {
  const line = {
    level: level.toUpperCase(),
    message,
    timestamp: new Date().toISOString(),
    service: 'graticule-worker',
  };
  process.stdout.write(`${JSON.stringify({ ...line, ...fields })}\n`);
}

/** An error as fields of a log line. */
export function errorFields(error: unknown): Record<string, unknown> {
  return error instanceof Error
    ? { error: error.name, detail: error.message, stack: error.stack }
    : { error: String(error) };
}
