/**
 * `npm run deploy:smoke -- URL`: what only AWS itself can show of a deployment. Reads, and changes nothing. The token is in
 * GRATICULE_API_TOKEN, so that it stands in no list of processes.
 */
interface Look {
  readonly what: string;
  /** Resolves with what was seen; throws when it is not as it should be. */
  look(): Promise<string>;
}

const [url] = process.argv.slice(2);
const token = process.env['GRATICULE_API_TOKEN'] ?? '';
if (url === undefined || !URL.canParse(url) || token === '') {
  console.error('usage: GRATICULE_API_TOKEN=… npm run deploy:smoke -- URL');
  process.exit(2);
}
const base = url.replace(/\/$/, '');
const authorization = { authorization: `Bearer ${token}` };

/** Names that API Gateway is known to give a header that it does not let pass under its own. */
const REMAPPED = ['www-authenticate', 'x-amzn-remapped-www-authenticate'];

function expectStatus(response: Response, statuses: readonly number[]): void {
  if (!statuses.includes(response.status)) throw new Error(`answered ${response.status}`);
}

const LOOKS: readonly Look[] = [
  {
    what: 'a worker runs',
    async look() {
      const response = await fetch(`${base}/api/health`);
      expectStatus(response, [200]);
      return response.text();
    },
  },
  {
    what: 'the token is taken',
    async look() {
      const response = await fetch(`${base}/api/engine`, { headers: authorization });
      expectStatus(response, [200]);
      const { version } = (await response.json()) as { version: string };
      return `version ${version}`;
    },
  },
  {
    what: 'no token is a 401 with our body and a challenge',
    async look() {
      const response = await fetch(`${base}/api/engine`);
      expectStatus(response, [401]);
      const name = REMAPPED.find((header) => response.headers.get(header) !== null);
      if (name === undefined) throw new Error('there is no challenge under any name');
      const { type } = (await response.json()) as { type: string };
      if (type !== 'urn:graticule:problem:unauthenticated') throw new Error(`the type is ${type}`);
      return `the challenge came as ${name}`;
    },
  },
  {
    what: 'an unknown path is our own 404',
    async look() {
      const response = await fetch(`${base}/nowhere/at-all`, { headers: authorization });
      expectStatus(response, [404]);
      return `${response.headers.get('content-type')}`;
    },
  },
  {
    what: 'a method that a path does not take is our own 405',
    async look() {
      const response = await fetch(`${base}/api/bgp/peers`, { method: 'PATCH', headers: authorization });
      expectStatus(response, [405]);
      return `allow ${response.headers.get('allow')}`;
    },
  },
  {
    what: 'headers over 10,240 bytes are refused by API Gateway itself',
    async look() {
      const headers = { ...authorization, 'x-filler': 'x'.repeat(12_000) };
      const response = await fetch(`${base}/api/engine`, { headers });
      expectStatus(response, [400, 431]);
      return `${response.status}: ${(await response.text()).slice(0, 80)}`;
    },
  },
  {
    what: 'a body over 6 MB, which Lambda does not take, is refused by API Gateway itself',
    async look() {
      const response = await fetch(`${base}/api/v1/models/import`, {
        method: 'POST',
        headers: { ...authorization, 'content-type': 'application/json' },
        body: new Uint8Array(7_000_000).fill(32),
      });
      expectStatus(response, [413, 500]);
      return `${response.status}: ${(await response.text()).slice(0, 80)}`;
    },
  },
  {
    what: 'a large answer is compressed',
    async look() {
      const response = await fetch(`${base}/api/openapi.json`, { headers: { 'accept-encoding': 'gzip' } });
      expectStatus(response, [200]);
      if (response.headers.get('content-encoding') !== 'gzip') throw new Error('it is not');
      return `${(await response.arrayBuffer()).byteLength} bytes`;
    },
  },
];

let failed = 0;
for (const { what, look } of LOOKS) {
  try {
    console.log(`ok ${what} (${await look()})`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${what}: ${(error as Error).message}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;
