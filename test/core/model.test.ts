import { describe, expect, it } from 'vitest';
import { validateBody } from '../../core/body.ts';
import { FIELD_TYPES } from '../../core/mapping/field-type.ts';
import { exportModel, type Model, PROTOCOLS, renameField } from '../../core/model.ts';
import { modelImport } from '../../core/model-request.ts';
import { compareVersions, nextMinorVersion, parseVersion } from '../../core/model-version.ts';
import { parseJson } from '../../core/plain-json.ts';
import { Problem } from '../../core/problem.ts';
import { Random, testSeed } from '../support/random.ts';

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  '1',
  '10',
  '-1',
  'a\u2028b',
  'é',
  'e\u0301',
  '😀',
  '"',
  '\\',
  '/',
  '~',
  '<script>',
  '{{name}}',
  'a b',
  'null',
  'in | out',
];

function randomName(random: Random): string {
  if (random.chance(0.4)) return random.pick(ODD_NAMES);
  const length = 1 + random.below(12);
  const text = Array.from({ length }, () =>
    String.fromCodePoint(33 + random.below(random.chance(0.1) ? 50_000 : 90)),
  )
    .join('')
    .toWellFormed();
  return /\p{Cc}/u.test(text) || text.trim() === '' ? 'x' : text;
}

function randomDocument(random: Random): Record<string, unknown> {
  const names = [...new Set(Array.from({ length: random.below(12) }, () => randomName(random)))];
  const platforms = [
    ...new Set(
      Array.from({ length: random.below(4) }, () => `${random.pick(PROTOCOLS)} n${random.below(9)}`),
    ),
  ];
  return {
    format: 'graticule-model/1',
    name: randomName(random),
    version: `${random.below(3)}.${random.below(12)}.${random.below(2 ** 29)}`,
    description: random.chance(0.5) ? '' : randomName(random).repeat(3),
    fields: names.map((name) => ({ name, type: random.pick(FIELD_TYPES) })),
    mappings: platforms.map((platform) => {
      const [protocol, netos] = platform.split(' ');
      const mapped = [...names, randomName(random)].filter(() => random.chance(0.7));
      return {
        protocol,
        netos,
        field_mappings: Object.fromEntries(mapped.map((name) => [name, `/a[k=${randomName(random)}]/b`])),
      };
    }),
  };
}

/** What a handler does between the two: ids and state come to the content, and nothing else. */
function imported(text: string, firstId: number): Model {
  const document = validateBody(modelImport, [], parseJson(text));
  const { name, version, description } = document;
  return {
    id: firstId,
    revision: 1,
    name,
    version,
    description,
    active: false,
    activatedAt: null,
    activation: 0,
    fields: document.fields.map((field, index) => ({ id: firstId + index, ...field })),
    mappings: document.mappings.map((mapping, index) => ({
      id: firstId + index,
      protocol: mapping.protocol,
      netos: mapping.netos,
      fieldMappings: mapping.field_mappings,
    })),
    createdAt: '',
    updatedAt: '',
  };
}

describe('export and import of models', () => {
  it('10,000 random models survive export, import and export byte for byte, odd names included', () => {
    const random = new Random(testSeed('model documents'));
    for (let count = 0; count < 10_000; count += 1) {
      const first = imported(JSON.stringify(randomDocument(random)), 1);
      const exported = JSON.stringify(exportModel(first));
      const again = JSON.stringify(exportModel(imported(exported, 1_000)));
      if (again !== exported) expect(again).toBe(exported);
      expect(first.fields.length).toBe((JSON.parse(exported) as { fields: unknown[] }).fields.length);
    }
  });

  it('keeps a field called __proto__ and its paths', () => {
    const text =
      '{"format":"graticule-model/1","name":"m","version":"1.0.0","description":"",' +
      '"fields":[{"name":"__proto__","type":"string"}],' +
      '"mappings":[{"protocol":"gnmi","netos":"*","field_mappings":{"__proto__":"/a/b"}}]}';
    expect(JSON.stringify(exportModel(imported(text, 1)))).toBe(text);
  });

  it('refuses lone surrogates wherever a name or path may hold them', () => {
    const lone = '\ud800';
    for (const document of [
      { name: lone },
      { description: lone },
      { fields: [{ name: lone, type: 'string' }] },
      { mappings: [{ protocol: 'gnmi', netos: '*', field_mappings: { a: lone } }] },
      { mappings: [{ protocol: 'gnmi', netos: '*', field_mappings: { [lone]: '/a' } }] },
    ]) {
      const body = { format: 'graticule-model/1', name: 'm', version: '1.0.0', ...document };
      expect(() => validateBody(modelImport, [], body)).toThrow(Problem);
    }
  });
});

describe('versions of models', () => {
  it('are compared as numbers, and the next one raises the minor of the highest', () => {
    expect(nextMinorVersion(['1.9.0', '1.10.4', '1.2.99'])).toBe('1.11.0');
    expect(nextMinorVersion([])).toBe('1.0.0');
    const [a, b] = ['2.0.0', '10.0.0'].map(parseVersion);
    expect(compareVersions(a ?? [0, 0, 0], b ?? [0, 0, 0])).toBeLessThan(0);
    for (const text of ['1', '1.0', '01.0.0', '1.0.0 ', '1.0.0.0', '-1.0.0', '9999999999.0.0']) {
      expect(parseVersion(text)).toBeUndefined();
    }
  });
});

describe('renaming a field', () => {
  it('carries its path and displaces what was mapped to a name that no field had', () => {
    const mapping = { id: 1, protocol: 'gnmi', netos: '*' } as const;
    const mappings = [
      {
        ...mapping,
        fieldMappings: [
          ['b', '/old'],
          ['a', '/a'],
        ] as const,
      },
    ];
    expect(renameField(mappings, 'a', 'b')[0]?.fieldMappings).toEqual([['b', '/a']]);
  });
});
