/** Installs, once a machine, the programs of other people that interop and bench cases run beside the product. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../harness.ts';

/** What users of AWS type their commands with. */
export const AWS_COMMAND_LINE = 'awscli==1.46.3';

/** A Debian package that gives the command; installed when the command is missing. Returns the command's path. */
export function debianCommand(command: string, packageName: string): string {
  const found = which(command);
  if (found !== undefined) return found;
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'pipe', env: environment });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', packageName], {
    stdio: 'pipe',
    env: environment,
  });
  const installed = which(command);
  if (installed === undefined) throw new Error(`${packageName} is installed but gives no ${command}`);
  return installed;
}

/** A Go program at an exact version, e.g. `github.com/osrg/gobgp/v4/cmd/gobgpd@v4.8.0`. Returns its path. */
export function goCommand(moduleAtVersion: string): string {
  const [module, version] = moduleAtVersion.split('@');
  if (module === undefined || version === undefined) throw new Error(`${moduleAtVersion}: name a version`);
  const directory = join(cacheDirectory(), 'go', version);
  const path = join(directory, module.split('/').at(-1) as string);
  if (!existsSync(path)) {
    mkdirSync(directory, { recursive: true });
    execFileSync('go', ['install', moduleAtVersion], {
      stdio: 'pipe',
      env: { ...process.env, GOBIN: directory, GOFLAGS: '-mod=mod' },
    });
  }
  return path;
}

/** A Python environment with exactly these requirements (`name==version`). Returns its `bin` folder. */
export function pythonEnvironment(requirements: readonly string[]): string {
  const digest = createHash('sha256').update(requirements.join('\n')).digest('hex').slice(0, 12);
  const directory = join(cacheDirectory(), 'python', digest);
  const bin = join(directory, 'bin');
  if (!existsSync(join(directory, 'complete'))) {
    execFileSync('python3', ['-m', 'venv', '--clear', directory], { stdio: 'pipe' });
    execFileSync(join(bin, 'pip'), ['install', '--quiet', ...requirements], { stdio: 'pipe' });
    mkdirSync(join(directory, 'complete'));
  }
  return bin;
}

function which(command: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin', '/usr/lib/frr'];
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}
