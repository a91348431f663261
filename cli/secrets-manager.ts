/** Reads AWS Secrets Manager with whatever credentials the SDK finds: environment, profile, OIDC role, instance. */
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** The text of a secret; throws an Error whose message is a sentence. */
export async function readManagedSecret(id: string, signal: AbortSignal): Promise<string> {
  const region = /^arn:[^:]+:secretsmanager:([^:]+):/.exec(id)?.[1];
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  try {
    const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: id }), {
      abortSignal: signal,
    });
    if (text === undefined) throw new Error(`the secret ${id} is binary; text is needed`);
    return text;
  } catch (error) {
    const { name, message } = error as Error;
    switch (name) {
      case 'ResourceNotFoundException':
        throw new Error(`there is no secret ${id} in this account and region`);
      case 'AccessDeniedException':
        throw new Error(
          `these AWS credentials may not read the secret ${id} (secretsmanager:GetSecretValue)`,
        );
      case 'CredentialsProviderError':
        throw new Error(`there are no AWS credentials to read the secret ${id} with`);
      case 'ExpiredTokenException':
      case 'UnrecognizedClientException':
        throw new Error(`AWS does not take these credentials for the secret ${id} (${name})`);
      default:
        throw new Error(
          /region is missing/i.test(message)
            ? `no AWS region is set to look for the secret ${id} in; set AWS_REGION or name it by its ARN`
            : /^the secret /.test(message)
              ? message
              : `the secret ${id} cannot be read (${name})`,
        );
    }
  } finally {
    client.destroy();
  }
}
