import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { bundleAll, ROOT } from '../../infra/bundle.ts';
import { copyNativePackages } from '../../infra/worker-image.ts';

it('the image has all that its native package needs to be loaded', () => {
  const context = mkdtempSync(join(tmpdir(), 'graticule-context-'));
  try {
    copyNativePackages(join(context, 'node_modules'));
    // The binary of this machine, in place of the one of the image's platform.
    symlinkSync(join(ROOT, 'node_modules/@koromix'), join(context, 'node_modules/@koromix'));
    writeFileSync(join(context, 'probe.mjs'), "import koffi from 'koffi'; console.log(typeof koffi.load);");
    const printed = execFileSync(process.execPath, [join(context, 'probe.mjs')], { encoding: 'utf8' });
    expect(printed.trim()).toBe('function');
  } finally {
    rmSync(context, { recursive: true });
  }
});

it('the image is made by copying alone, and does not run as root', () => {
  const words = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').match(/^[A-Z]+/gm);
  expect(words).not.toContain('RUN');
  expect(words).toContain('USER');
});

it('every bundle is a program that Node can read, and the health check runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'graticule-bundles-'));
  try {
    const { outputs } = await bundleAll(folder);
    for (const output of Object.keys(outputs)) {
      execFileSync(process.execPath, ['--check', resolve(ROOT, output)], { stdio: 'pipe' });
    }
    const check = spawnSync(process.execPath, [join(folder, 'worker/health.js')], {
      env: { GRATICULE_HEALTH_SOCKET: 'graticule-nobody-listens-here' },
      encoding: 'utf8',
    });
    expect([check.status, check.stdout.trim()]).toEqual([1, 'silent']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
