import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDeclaration } from '../../cli/declaration.ts';
import { formatPlace, SourceFile } from '../../cli/source-file.ts';
import { runCli, startFakeStack } from '../support/cli.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'graticule-declaration-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const TEN_MISTAKES = readFileSync(resolve(import.meta.dirname, '../../docs/examples/mistakes.yaml'), 'utf8');

function told(text: string, name = 'graticule.yaml'): string[] {
  const { mistakes } = readDeclaration([new SourceFile(name, text)], folder);
  return mistakes.map(({ place, sentence }) => `${formatPlace(place)}: ${sentence}`);
}

describe('declarative files', () => {
  it('have ten mistakes told in ten messages, each with line and column, before any call is made', async () => {
    const messages = told(TEN_MISTAKES);
    expect(messages).toEqual([
      'graticule.yaml:5:5: hold-tme: did you mean hold-time?',
      'graticule.yaml:7:19: peer-address is a multicast address; a unicast address is needed',
      'graticule.yaml:9:16: hold-time is 0 (meaning 90) or 3 to 65535 seconds',
      'graticule.yaml:10:20: auth-password is a secret and stands here in clear; write { env: NAME } or { secrets-manager: NAME-OR-ARN, key: MEMBER }, and change the secret',
      'graticule.yaml:12:5: address is required',
      'graticule.yaml:13:12: netos is 1 to 64 of a-z, 0-9, dot, underscore and hyphen',
      'graticule.yaml:15:17: password: environment is no member of a reference to a secret; write { env: NAME } or { secrets-manager: NAME-OR-ARN, key: MEMBER }',
      'graticule.yaml:16:1: subscription is not known here; did you mean subscriptions?',
      'graticule.yaml:19:14: version is three integers without leading zeros, as "1.2.0"',
      expect.stringMatching(/^graticule\.yaml:21:34: type is one of string, boolean/),
    ]);
    expect(messages).toHaveLength(10);

    const stack = await startFakeStack({});
    writeFileSync(join(folder, 'graticule.yaml'), TEN_MISTAKES);
    for (const command of ['plan', 'apply']) {
      const run = await runCli([command, '--url', stack.url], { workingDirectory: folder });
      expect(run.code).toBe(2);
      expect(run.output).toBe('');
      expect(run.errors.trimEnd().split('\n')).toEqual([
        ...messages,
        `graticule: ${messages.length} mistakes; nothing was sent`,
      ]);
      expect(run.errors).not.toContain('sesame');
    }
    expect(stack.requests).toEqual([]);
    await stack.stop();
  });

  it('are YAML or JSON, with places in both', () => {
    expect(told('{"peers": [{"name": "a"}]}', 'x.json')).toEqual([
      'x.json:1:12: peer-address is required',
      'x.json:1:12: user-peer-as is required',
    ]);
    expect(told('peers:\n\t- name: a\n')).toEqual([
      'graticule.yaml:2:1: Tabs are not allowed as indentation',
    ]);
    expect(told('peers: []\npeers: []\n')).toEqual(['graticule.yaml:2:1: Map keys must be unique']);
    expect(told('- a\n')).toEqual([
      'graticule.yaml:1:1: a file has members: peers, devices, models, subscriptions, webhook',
    ]);
    expect(told('peers:\n')).toEqual([
      'graticule.yaml:1:7: peers is a list; for none of them write peers: []',
    ]);
    expect(told('')).toEqual([]);
  });

  it('refuse what would stand for millions of values', () => {
    const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
    for (let level = 1; level < 9; level += 1)
      bomb.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(',')}]`,
      );
    expect(told(bomb.join('\n'))[0]).toContain('Excessive alias count');
  });

  it('name a thing once: not twice by name, no two peers by address, the webhook in one file', () => {
    const peer = (name: string, address: string) =>
      `  - { name: ${name}, peer-address: "${address}", user-peer-as: "65001" }\n`;
    expect(
      told(`peers:\n${peer('a', '192.0.2.1')}${peer('a', '192.0.2.2')}${peer('b', '::ffff:192.0.2.1')}`),
    ).toEqual([
      'graticule.yaml:3:5: the peer a stands already at graticule.yaml:2:5',
      'graticule.yaml:4:5: the peer b has the address, port and local address of a at graticule.yaml:2:5',
    ]);
    const webhook = 'webhook: { enabled: false, config: { url: "" } }\n';
    const files = [new SourceFile('a.yaml', webhook), new SourceFile('b.yaml', webhook)];
    expect(readDeclaration(files, folder).mistakes.map(({ sentence }) => sentence)).toEqual([
      'webhook stands already at a.yaml:1:10',
    ]);
  });

  it('take a model from an export document beside them, and tell its mistakes in its own lines', () => {
    writeFileSync(
      join(folder, 'interfaces.json'),
      '{"format": "graticule-model/1", "name": "interfaces", "version": "1.0.0",\n "fields": [{"name": "mtu", "type": "uint23"}]}',
    );
    expect(told('models:\n  - document: interfaces.json\n  - document: none.json\n')).toEqual([
      expect.stringMatching(/^interfaces\.json:2:37: type is one of/),
      `graticule.yaml:3:15: there is no ${join(folder, 'none.json')}`,
    ]);
  });

  it('warn of what the stack would warn of, and of a header that looks like a secret', () => {
    const text = `models:
  - name: m
    version: 1.0.0
    fields: [{ name: a, type: string }]
    mappings:
      - protocol: gnmi
        netos: "*"
        field_mappings: { a: a/b }
webhook:
  enabled: false
  config:
    url: https://receiver.example/
    headers: { X-Api-Key: abc }
`;
    const { warnings, mistakes } = readDeclaration([new SourceFile('g.yaml', text)], folder);
    expect(mistakes).toEqual([]);
    expect(warnings.map(({ place, sentence }) => `${formatPlace(place)}: ${sentence}`)).toEqual([
      expect.stringMatching(/^g\.yaml:8:30: a: .*\(no-leading-slash\)$/),
      expect.stringMatching(/^g\.yaml:13:27: the value of X-Api-Key looks like a secret/),
    ]);
    expect(JSON.stringify(warnings)).not.toContain('abc');
  });
});
