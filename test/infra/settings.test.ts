import { describe, expect, it } from 'vitest';
import { readSettings, SETTING_NAMES } from '../../infra/settings.ts';

const read = (context: Record<string, unknown>) => readSettings((name) => context[name]);

describe('the settings of a deployment', () => {
  it('have a default each', () => {
    expect(read({})).toMatchObject({ name: 'Graticule', stage: 'production', network: 'public', workers: 1 });
    expect(SETTING_NAMES).toContain('bgp-listen-from');
  });

  it('are refused all at once, each by its name', () => {
    const wrong = {
      network: 'open',
      workers: 'many',
      cidr: '10.0.0.0/30',
      'worker-memory': '3072',
      'router-id': '0.0.0.0',
      'webhook-allow': '10.0.0.0',
      name: '9',
    };
    for (const name of Object.keys(wrong)) expect(() => read(wrong)).toThrow(`-c ${name}=`);
  });

  it('takes the pairs of CPU and memory that Fargate has', () => {
    expect(read({ 'worker-cpu': 1024, 'worker-memory': 4096 })).toMatchObject({ workerMegabytes: 4_096 });
    expect(() => read({ 'worker-cpu': 300 })).toThrow('Fargate has 256, 512, 1024');
  });

  it('refuse an image that workers of a private network could not fetch', () => {
    const image = 'registry.example/graticule-worker:1';
    expect(() => read({ network: 'private', image })).toThrow(
      '-c image=registry.example/graticule-worker:1: ',
    );
    const inEcr = '123456789012.dkr.ecr.eu-central-1.amazonaws.com/graticule-worker:1';
    expect(read({ network: 'private', image: inEcr }).image).toBe(inEcr);
    expect(read({ network: 'private-nat', image }).image).toBe(image);
  });

  it('takes several ranges', () => {
    expect(read({ 'webhook-allow': '10.0.0.0/8,192.168.0.0/16' }).webhookAllow).toEqual([
      '10.0.0.0/8',
      '192.168.0.0/16',
    ]);
  });
});
