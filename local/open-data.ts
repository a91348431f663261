import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLocalAws, useLocalAws } from './aws.ts';
import { DirectoryInUse, holdDataDirectory } from './data-directory.ts';

const ENVIRONMENT_FILE = 'environment.json';

/** Where a running product tells tools of this machine how to reach its emulators. */
export function environmentPath(dataDirectory: string): string {
  return join(dataDirectory, ENVIRONMENT_FILE);
}

/**
 * Points this process at the data of a local run: at the emulators of the product that runs on it, else at ones started
 * here for as long as `work` takes.
 */
export async function withLocalData<Result>(
  dataDirectory: string,
  work: () => Promise<Result>,
): Promise<Result> {
  let directory: ReturnType<typeof holdDataDirectory>;
  try {
    directory = holdDataDirectory(dataDirectory);
  } catch (error) {
    if (!(error instanceof DirectoryInUse)) throw error;
    useLocalAws({ environment: JSON.parse(readFileSync(environmentPath(dataDirectory), 'utf8')) });
    return work();
  }
  try {
    const aws = await startLocalAws({ dataDirectory });
    try {
      await aws.queuesReady;
      useLocalAws(aws);
      return await work();
    } finally {
      await aws.stop();
    }
  } finally {
    directory.release();
  }
}
