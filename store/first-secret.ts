/** Secrets that a new stack gives its first value, once; a backup adds to one. */
import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
} from '@aws-sdk/client-secrets-manager';
import { secretsManager } from './clients.ts';

/**
 * The value of a secret, which is made when it has none yet. In AWS the infrastructure makes the secret, empty, and only
 * its first value comes from here; the local run starts with no secret at all.
 */
export async function firstSecretValue(secretId: string, make: () => string): Promise<string> {
  const found = await currentValue(secretId);
  if (found !== '') return found;
  const value = make();
  try {
    await putValue(secretId, value);
    return value;
  } catch (error) {
    // Somebody else made it between our look and now: theirs counts.
    if (!(error instanceof ResourceExistsException)) throw error;
    return currentValue(secretId);
  }
}

/** Gives a secret a value. One that is not there is made, for which `secretId` has to be a name: AWS takes no ARN there. */
export async function putValue(secretId: string, value: string): Promise<void> {
  try {
    await secretsManager().send(new PutSecretValueCommand({ SecretId: secretId, SecretString: value }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await secretsManager().send(new CreateSecretCommand({ Name: secretId, SecretString: value }));
  }
}

/** `''` when the secret is not there or has no value yet: Secrets Manager answers both in the same way. */
export async function currentValue(secretId: string): Promise<string> {
  try {
    const { SecretString } = await secretsManager().send(new GetSecretValueCommand({ SecretId: secretId }));
    return SecretString ?? '';
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return '';
    throw error;
  }
}
