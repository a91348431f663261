import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { ContainerImage } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import { NATIVE_PACKAGES, ROOT } from './bundle.ts';
import { ECR_IMAGE } from './settings.ts';

/** Of a package with native code, what is needed to run it: not its C++ sources, nor how to build them. */
const RUNTIME_FILES = /^(package\.json|LICENSE.*|(index|indirect)\.c?js|src\/.*\.c?js)$/;

export type ImagePlatform = 'linux/arm64' | 'linux/amd64';

/**
 * Makes the Dockerfile's context below the bundles: the worker, its health check, and the native packages for the platform
 * of the image, which is not the platform of the machine that builds it. Returns the folder.
 */
export function stageWorkerImage(bundles: string, platform: ImagePlatform): string {
  const context = join(bundles, 'worker');
  copyFileSync(join(ROOT, 'Dockerfile'), join(context, 'Dockerfile'));
  const modules = join(context, 'node_modules');
  copyNativePackages(modules);
  cpSync(nativeModules(platform), modules, { recursive: true });
  return context;
}

/** Copies what runs of the native packages, without the binary of any platform. */
export function copyNativePackages(modules: string): void {
  for (const name of NATIVE_PACKAGES) {
    copyRuntimeFiles(join(ROOT, 'node_modules', name), join(modules, name));
  }
}

function copyRuntimeFiles(from: string, to: string): void {
  for (const path of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
    if (RUNTIME_FILES.test(path.replaceAll('\\', '/'))) cpSync(join(from, path), join(to, path));
  }
}

/**
 * The prebuilt binary of another platform, which `npm ci` leaves out: fetched once by npm itself, held against the digest
 * in our lockfile, and kept beside the other caches. Returns a folder like `node_modules`.
 */
function nativeModules(platform: ImagePlatform): string {
  const cpu = platform === 'linux/arm64' ? 'arm64' : 'x64';
  const name = `@koromix/koffi-linux-${cpu}`;
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const locked = lock.packages[`node_modules/${name}`];
  const kept = join(ROOT, 'node_modules/.cache/graticule', `koffi-linux-${cpu}-${locked.version}`);
  if (existsSync(kept)) return join(kept, 'node_modules');
  const making = `${kept}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  // Optional: only then does npm let the platform be named.
  const optionalDependencies = { [name]: locked.version };
  writeFileSync(join(making, 'package.json'), JSON.stringify({ optionalDependencies }));
  writeFileSync(
    join(making, 'package-lock.json'),
    JSON.stringify({
      lockfileVersion: 3,
      packages: { '': { optionalDependencies }, [`node_modules/${name}`]: locked },
    }),
  );
  const words = [
    'ci',
    '--os=linux',
    `--cpu=${cpu}`,
    '--libc=glibc',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  execFileSync('npm', words, {
    cwd: making,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  // npm passes over an optional package that it could not fetch; an image without it would start and then refuse MD5.
  if (!existsSync(join(making, 'node_modules', name))) {
    rmSync(making, { recursive: true });
    throw new Error(`npm could not fetch ${name} ${locked.version}, which the worker's image needs`);
  }
  // Fargate runs the image on glibc.
  rmSync(join(making, 'node_modules', name, `musl_${cpu}`), { recursive: true });
  rmSync(join(making, 'node_modules/.package-lock.json'), { force: true });
  if (existsSync(kept)) rmSync(making, { recursive: true });
  else renameSync(making, kept);
  return join(kept, 'node_modules');
}

/** The image that the worker's task runs: built by CDK from the Dockerfile, or one that somebody else has pushed. */
export function workerImage(scope: Construct, image: string, bundles: string): ContainerImage {
  if (image === '') {
    return ContainerImage.fromAsset(stageWorkerImage(bundles, 'linux/arm64'), {
      platform: Platform.LINUX_ARM64,
    });
  }
  const ecr = ECR_IMAGE.exec(image);
  if (ecr === null) return ContainerImage.fromRegistry(image);
  const [, account, region, repositoryName, tagOrDigest] = ecr as unknown as [
    string,
    string,
    string,
    string,
    string,
  ];
  const repository = Repository.fromRepositoryAttributes(scope, 'Repository', {
    repositoryName,
    repositoryArn: `arn:${Stack.of(scope).partition}:ecr:${region}:${account}:repository/${repositoryName}`,
  });
  return ContainerImage.fromEcrRepository(repository, tagOrDigest);
}
