/** The health check of the worker's container: exit code 0 while the worker is well. */
import { ENV } from '../contract/env.ts';
import { askHealth } from './health-socket.ts';

const health = await askHealth(process.env[ENV.healthSocket] ?? '');
console.log(health);
process.exit(health === 'ok' ? 0 : 1);
