/** `node test/support/receiver/gateway-process.ts PORT`: the API's gateway alone, on the AWS that the environment names. */
import { guardCalls } from '../../../local/aws.ts';
import { startGateway } from '../../../local/gateway.ts';
import { loadHandlers } from '../../../local/handlers.ts';
import { currentPrincipal } from '../../../local/principal.ts';

guardCalls(currentPrincipal);
await startGateway({ host: '127.0.0.1', port: Number(process.argv[2]), handlers: await loadHandlers() });
