import { describe, expect, it } from 'vitest';
import { itemBytes, valueBytes } from '../../local/item-size.ts';

describe('the size of a DynamoDB item', () => {
  it('counts attribute names and text in UTF-8', () => {
    expect(itemBytes({ pk: { S: 'abc' } })).toBe(2 + 3);
    expect(itemBytes({ ü: { S: '€' } })).toBe(2 + 3);
  });

  it('counts bytes as they are, not as base64', () => {
    expect(valueBytes({ B: new Uint8Array(300) })).toBe(300);
  });

  it('counts a number by its significant digits, two a byte', () => {
    expect(valueBytes({ N: '0' })).toBe(1);
    expect(valueBytes({ N: '7' })).toBe(2);
    expect(valueBytes({ N: '1200' })).toBe(2);
    expect(valueBytes({ N: '-0.0123' })).toBe(4);
    expect(valueBytes({ N: '12345678901234567890123456789012345678' })).toBe(20);
    expect(valueBytes({ N: '15e30' })).toBe(2);
  });

  it('counts one byte for a null or a boolean, three for a list or a map, and one for each of its elements', () => {
    expect(valueBytes({ NULL: true })).toBe(1);
    expect(valueBytes({ BOOL: false })).toBe(1);
    expect(valueBytes({ L: [] })).toBe(3);
    expect(valueBytes({ L: [{ S: 'ab' }, { BOOL: true }] })).toBe(3 + (1 + 2) + (1 + 1));
    expect(valueBytes({ M: { a: { S: 'b' } } })).toBe(3 + 1 + 1 + 1);
  });

  it('counts the elements of sets', () => {
    expect(valueBytes({ SS: ['ab', 'c'] })).toBe(3);
    expect(valueBytes({ NS: ['1', '22'] })).toBe(4);
    expect(valueBytes({ BS: [new Uint8Array(4)] })).toBe(4);
  });
});
