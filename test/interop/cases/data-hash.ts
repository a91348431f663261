import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, type ExactJson, parseExactJson } from '../../../core/exact-json.ts';
import { dataHash } from '../../../core/record.ts';
import type { TestCase } from '../../harness.ts';
import { pythonEnvironment } from '../../support/install.ts';
import { Random } from '../../support/random.ts';

/** Hashes each line's object as RFC 8785 says it, by a library that is not ours. */
const RFC_8785 = `
import hashlib, json, sys, rfc8785
for line in open(sys.argv[1], encoding="utf-8"):
    print("sha256:" + hashlib.sha256(rfc8785.dumps(json.loads(line))).hexdigest())
`;

/** The rule beyond RFC 8785's numbers, told once more: members by UTF-16 units, integers by their digits. */
const EXACT_INTEGERS = `
import hashlib, json, sys
def text(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(json.dumps(key, ensure_ascii=False) + ":" + text(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text, value)) + "]"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value, ensure_ascii=False)
for line in open(sys.argv[1], encoding="utf-8"):
    print("sha256:" + hashlib.sha256(text(json.loads(line)).encode("utf-8")).hexdigest())
`;

export const testCase: TestCase = {
  title: 'data-hash is what Python’s rfc8785 computes, and exact beyond its numbers',
  inCi: true,
  run: async ({ check, log, scratchDirectory, seed }) => {
    const random = new Random(seed);
    const python = join(pythonEnvironment(['rfc8785==0.1.4']), 'python');
    const hashes = (script: string, texts: readonly string[]): string[] => {
      const file = join(scratchDirectory, 'records.jsonl');
      writeFileSync(file, texts.join('\n'));
      const output = execFileSync(python, ['-c', script, file], { encoding: 'utf8', maxBuffer: 1 << 26 });
      return output.trim().split('\n');
    };
    const ours = (text: string) => dataHash(parseExactJson(text) as ExactJson);

    const ordinary = Array.from({ length: 10_000 }, () => object(random, ordinaryNumber));
    await check('agrees on 10,000 random records within RFC 8785’s numbers', () => {
      const theirs = hashes(RFC_8785, ordinary);
      for (const [index, text] of ordinary.entries()) assert.equal(ours(text), theirs[index], text);
    });

    const large = Array.from({ length: 2_000 }, () => object(random, largeInteger));
    await check('agrees on 2,000 records with integers beyond 2^53 with a script of the rule', () => {
      const theirs = hashes(EXACT_INTEGERS, large);
      for (const [index, text] of large.entries()) assert.equal(ours(text), theirs[index], text);
    });

    await check('2^53, 2^53 + 1 and 2^64 − 1 hash differently, digit for digit', () => {
      const texts = ['9007199254740992', '9007199254740993', '18446744073709551615'].map(
        (digits) => `{"counter":${digits}}`,
      );
      assert.equal(new Set(texts.map(ours)).size, 3);
      for (const text of texts) assert.equal(canonicalJson(parseExactJson(text) as ExactJson), text);
    });
    log(`seed ${seed}: ${ordinary.length + large.length} records`);
  },
};

/** A flat object, as records' data are, its members in any order, its numbers as the given function writes them. */
function object(random: Random, number: (random: Random) => string): string {
  const members = new Map<string, string>();
  for (let count = 1 + random.below(8); count > 0; count -= 1) {
    const name = string(random);
    members.set(name, random.chance(0.7) ? number(random) : other(random));
  }
  return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

function other(random: Random): string {
  return random.pick([
    'true',
    'false',
    'null',
    JSON.stringify(string(random)),
    '[]',
    '{}',
    '["a",{"b":null}]',
  ]);
}

function string(random: Random): string {
  const letters = ['a', 'B', '-', '_', '"', '\\', '/', '\n', '\u0001', 'é', '€', '😀', 'דּ', '0'];
  return Array.from({ length: 1 + random.below(10) }, () => random.pick(letters)).join('');
}

/** An integer within ±(2^53 − 1), a double, or a decimal of at most 15 digits. */
function ordinaryNumber(random: Random): string {
  const integer = random.below(2 ** 21) * 2 ** 32 + random.bits();
  const sign = random.chance(0.3) && integer > 0 ? '-' : '';
  switch (random.below(3)) {
    case 0:
      return `${sign}${integer}`;
    case 1: {
      const view = new DataView(new ArrayBuffer(8));
      view.setUint32(0, random.bits());
      view.setUint32(4, random.bits());
      const double = view.getFloat64(0);
      // An integral double is an integer, whose own digits count: the other case is for those.
      return Number.isFinite(double) && !Number.isInteger(double) ? JSON.stringify(double) : `${sign}0.5`;
    }
    default:
      return `${sign}${random.below(1_000_000)}.${1 + random.below(9)}${random.below(10_000_000)}1`;
  }
}

function largeInteger(random: Random): string {
  const digits = BigInt(random.bits()) * 2n ** 32n + BigInt(random.bits());
  return String(random.chance(0.3) ? -(digits >> 1n) - 1n : digits);
}
