import * as z from 'zod/mini';

/** True or false; false when omitted. */
export const flag = z._default(z.boolean(), false).register(z.globalRegistry, { legal: 'true or false' });
