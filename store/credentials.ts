/**
 * Where the bundles find credentials: what Lambda puts into the environment, else what Fargate gives over HTTP. The
 * bundles have it in place of `@aws-sdk/credential-provider-node`, whose other ways (profiles, single sign-on, web
 * identity, instance metadata) none of them can use, and which is a fifth of the smallest of them.
 */
import { fromEnv } from '@aws-sdk/credential-provider-env';
import { fromHttp } from '@aws-sdk/credential-provider-http';

type Credentials = Awaited<ReturnType<ReturnType<typeof fromEnv>>>;

/** Named and called as in the package that it stands for. The SDK keeps the result until shortly before it expires. */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const isInEnvironment = process.env['AWS_ACCESS_KEY_ID'] !== undefined;
    return isInEnvironment ? fromEnv()() : fromHttp()();
  };
}
