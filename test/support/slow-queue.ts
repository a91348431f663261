/**
 * Loaded before a worker's program: each message takes its time to get into the queue, until SIGUSR2 makes it quick
 * again. `GRATICULE_TEST_SEND_MILLISECONDS` says how long.
 */
import { interceptCalls } from '../../store/call-interception.ts';

const delay = Number(process.env['GRATICULE_TEST_SEND_MILLISECONDS'] ?? '0');
const quick = new AbortController();

process.on('SIGUSR2', () => quick.abort());

interceptCalls(async ({ command }, proceed) => {
  if (command === 'SendMessageCommand' && !quick.signal.aborted) {
    await new Promise<void>((done) => {
      const timer = setTimeout(done, delay);
      quick.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        done();
      });
    });
  }
  return proceed();
});
