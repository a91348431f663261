import * as z from 'zod/mini';

export const liveTestBody = z.strictObject({
  'device-id': z.int().register(z.globalRegistry, { legal: "a device's id" }),
  'mapping-id': z.int().register(z.globalRegistry, { legal: "the id of one of the model's mappings" }),
});
