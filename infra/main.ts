/** The CDK app: `cdk` runs this file, which writes the templates and what they need below `cdk.out`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { graticuleApp } from './app.ts';
import { bundleAll } from './bundle.ts';

// CDK copies what it takes from here, so that two syntheses at once do not meet.
const bundles = mkdtempSync(join(tmpdir(), 'graticule-bundles-'));
try {
  await bundleAll(bundles);
  graticuleApp(bundles).app.synth();
} finally {
  rmSync(bundles, { recursive: true, force: true });
}
