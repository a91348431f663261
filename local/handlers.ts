import type { ApiFunction } from '../contract/routes.ts';
import type { Handler } from './lambda.ts';

type Handlers = Readonly<Record<ApiFunction, Handler>>;

const LOADERS: Readonly<Record<ApiFunction, () => Promise<{ readonly handler: unknown }>>> = {
  peers: () => import('../functions/peers.ts'),
  topology: () => import('../functions/topology.ts'),
  models: () => import('../functions/models.ts'),
  devices: () => import('../functions/devices.ts'),
  subscriptions: () => import('../functions/subscriptions.ts'),
  engine: () => import('../functions/engine.ts'),
  tokens: () => import('../functions/tokens.ts'),
  outputs: () => import('../functions/outputs.ts'),
};

const NAMES = Object.keys(LOADERS) as ApiFunction[];

/** The handlers that AWS Lambda runs, each imported at its first call: they read their environment then. */
export function lateHandlers(): Handlers {
  const handlers = NAMES.map((name): [ApiFunction, Handler] => {
    let loaded: Promise<Handler> | undefined;
    return [
      name,
      async (event, context) => {
        loaded ??= load(name);
        return (await loaded)(event, context);
      },
    ];
  });
  return Object.fromEntries(handlers) as Handlers;
}

/** The same, imported now, so that no request waits for it. */
export async function loadHandlers(): Promise<Handlers> {
  const handlers = await Promise.all(NAMES.map(async (name) => [name, await load(name)] as const));
  return Object.fromEntries(handlers) as Handlers;
}

async function load(name: ApiFunction): Promise<Handler> {
  const { handler } = await LOADERS[name]();
  return handler as Handler;
}
