/**
 * Loaded before the programs of a stack: from SIGUSR2 on, a process's calls to DynamoDB are made one after the other and
 * take `GRATICULE_TEST_CALL_MILLISECONDS` each, as a small store of one thread has them.
 */
import { interceptCalls } from '../../store/call-interception.ts';

const milliseconds = Number(process.env['GRATICULE_TEST_CALL_MILLISECONDS'] ?? '0');
let isSlow = false;
let line: Promise<void> = Promise.resolve();

process.on('SIGUSR2', () => {
  isSlow = true;
});

interceptCalls(async ({ client }, proceed) => {
  if (isSlow && client === 'DynamoDBClient') {
    line = line.then(() => new Promise((done) => setTimeout(done, milliseconds)));
    await line;
  }
  return proceed();
});
