/** Builds the worker's image from the Dockerfile without Docker and without a registry: buildah, on a base of our own. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { debianCommand } from '../../support/install.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const BASE = 'localhost/base';
const WORKER = 'localhost/worker';

/** What the image says of itself, in the Docker format's own words. */
export interface ImageConfiguration {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly StopSignal: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface BuiltImage {
  readonly configuration: ImageConfiguration;
  /** Where the file system of a container made from it is mounted. */
  readonly fileSystem: string;
  /** Unmounts it and removes what was stored. */
  remove(): void;
}

/**
 * Builds for this machine's processor. The base is this very Node with the libraries that it links: what the Dockerfile
 * does is shown by it, what the true base image holds is not.
 */
export function buildWorkerImage(scratch: string): BuiltImage {
  const buildah = debianCommand('buildah', 'buildah');
  const storage = ['--root', join(scratch, 'storage'), '--runroot', join(scratch, 'run')];
  const run = (...words: string[]) =>
    execFileSync(buildah, [...storage, '--storage-driver', 'vfs', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  const bud = (tag: string, ...words: string[]) =>
    run('bud', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--tag', tag, ...words);

  const platform = process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64';
  const context = join(scratch, 'context');
  execFileSync(process.execPath, ['infra/image-context.ts', context, platform], { cwd: ROOT, stdio: 'pipe' });
  bud(BASE, baseContext(join(scratch, 'base')));
  bud(WORKER, '--build-arg', `BASE=${BASE}`, context);
  const container = run('from', '--pull-never', WORKER);
  const inspected = JSON.parse(run('inspect', '--type', 'image', WORKER));
  return {
    configuration: inspected.Docker.config,
    fileSystem: run('mount', container),
    remove: () => run('rm', '--all'),
  };
}

/** Writes a Dockerfile of nothing but Node and its libraries; returns its folder. */
function baseContext(folder: string): string {
  const files = join(folder, 'files');
  const linked = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  for (const library of linked) copy(library, join(files, library));
  copy(process.execPath, join(files, 'usr/local/bin/node'));
  // The true base image knows user 1000 by a name and a home.
  mkdirSync(join(files, 'etc'), { recursive: true });
  writeFileSync(join(files, 'etc/passwd'), 'node:x:1000:1000::/home/node:/bin/sh\n');
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY files /\nENV PATH=/usr/local/bin\n');
  return folder;
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
