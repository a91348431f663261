import { describe, expect, it } from 'vitest';
import { asNumberRefusal, parseAsNumber } from '../../core/as-number.ts';

describe('AS numbers as RFC 5396 writes them', () => {
  it.each([
    ['0', 0],
    ['65001', 65001],
    ['4200000001', 4200000001],
    ['4294967295', 4294967295],
    ['0.65001', 65001],
    ['1.0', 65536],
    ['64086.59905', 4200000001],
    ['65535.65535', 4294967295],
  ])('reads %s', (text, value) => {
    expect(parseAsNumber(text)).toBe(value);
  });

  it.each([
    '',
    '-1',
    '+1',
    '01',
    '1.01',
    '4294967296',
    '65536.0',
    '0.65536',
    '1.',
    '.1',
    '1.2.3',
    ' 1',
    '1e3',
    '0x1',
  ])('refuses %j', (text) => {
    expect(parseAsNumber(text)).toBeUndefined();
  });

  it('says why 0 and AS_TRANS are no speaker’s AS', () => {
    expect(asNumberRefusal(0)).toContain('RFC 7607');
    expect(asNumberRefusal(23456)).toContain('AS_TRANS');
    expect(asNumberRefusal(23457)).toBeUndefined();
  });
});
