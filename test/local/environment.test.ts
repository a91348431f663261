import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EnvironmentError, readSettings } from '../../local/environment.ts';

/** What is said of an environment: the sentences, or none. */
function sentences(environment: Record<string, string>, hasEmulator = true): readonly string[] {
  try {
    readSettings(environment, hasEmulator);
    return [];
  } catch (error) {
    if (error instanceof EnvironmentError) return error.sentences;
    throw error;
  }
}

describe('the environment of the local run', () => {
  it('may be empty', () => {
    expect(readSettings({}, true)).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDirectory: resolve('.graticule'),
      apiToken: '',
      localAs: '',
      routerId: '',
      bgpListen: '',
      workers: 1,
      dynamodbEndpoint: undefined,
    });
  });

  it('takes an empty variable for none', () => {
    expect(readSettings({ GRATICULE_PORT: '', GRATICULE_HOST: ' ' }, true)).toEqual(readSettings({}, true));
  });

  it('takes what is right', () => {
    const settings = readSettings(
      {
        GRATICULE_HOST: '::1',
        GRATICULE_PORT: '0',
        GRATICULE_DATA_DIR: '/var/lib/graticule',
        GRATICULE_API_TOKEN: 'grt_0123456789abcdef',
        GRATICULE_LOCAL_AS: '64086.59905',
        GRATICULE_ROUTER_ID: '10.1.2.3',
        GRATICULE_BGP_LISTEN: '127.0.0.1:1179,[::1]:1179',
        GRATICULE_WORKERS: '3',
        AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000',
      },
      false,
    );
    expect(settings).toMatchObject({ host: '::1', port: 0, workers: 3, localAs: '64086.59905' });
    expect(settings.dynamodbEndpoint).toBe('http://127.0.0.1:8000');
  });

  for (const [name, value] of [
    ['GRATICULE_HOST', 'example.org'],
    ['GRATICULE_PORT', '70000'],
    ['GRATICULE_PORT', '80 80'],
    ['GRATICULE_PORT', '-1'],
    ['GRATICULE_API_TOKEN', 'short'],
    ['GRATICULE_API_TOKEN', 'has a space in the middle'],
    ['GRATICULE_LOCAL_AS', '065001'],
    ['GRATICULE_LOCAL_AS', '0'],
    ['GRATICULE_LOCAL_AS', '23456'],
    ['GRATICULE_ROUTER_ID', '10.0.0'],
    ['GRATICULE_ROUTER_ID', '0.0.0.0'],
    ['GRATICULE_BGP_LISTEN', '179'],
    ['GRATICULE_BGP_LISTEN', '127.0.0.1:0'],
    ['GRATICULE_BGP_LISTEN', '::1:179'],
    ['GRATICULE_WORKERS', '17'],
    ['GRATICULE_WORKERS', 'two'],
    ['AWS_ENDPOINT_URL_DYNAMODB', 'localhost:8000'],
  ] as const) {
    it(`refuses ${name}=${value} in a sentence that names it`, () => {
      const [sentence, ...more] = sentences({ [name]: value });
      expect(sentence).toMatch(new RegExp(`^${name} is .*\\.$`));
      expect(more).toEqual([]);
    });
  }

  it('says everything that is wrong at once', () => {
    expect(sentences({ GRATICULE_PORT: 'x', GRATICULE_WORKERS: 'y' })).toHaveLength(2);
  });

  it('does not repeat a token that it refuses', () => {
    expect(sentences({ GRATICULE_API_TOKEN: 'hunter22 hunter22' }).join()).not.toContain('hunter22');
  });

  it('refuses a host that other machines reach, unless clear text is asked for by name', () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      expect(sentences({ GRATICULE_HOST: host })[0]).toContain('GRATICULE_ALLOW_PLAIN_HTTP=1');
      expect(sentences({ GRATICULE_HOST: host, GRATICULE_ALLOW_PLAIN_HTTP: '1' })).toEqual([]);
    }
    for (const host of ['127.0.0.2', '::1', 'localhost'])
      expect(sentences({ GRATICULE_HOST: host })).toEqual([]);
  });

  it('names the endpoint to set where no emulator is installed', () => {
    expect(sentences({}, false)[0]).toMatch(/^AWS_ENDPOINT_URL_DYNAMODB is not set/);
  });
});
