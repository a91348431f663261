import { describe, expect, it } from 'vitest';
import { deviceDialRefusal } from '../../core/dial-guard.ts';
import {
  formatIpAddress,
  type IpAddress,
  parseIpAddress,
  withoutIpv4Mapping,
} from '../../core/ip-address.ts';

function canonical(text: string): string | undefined {
  const address = parseIpAddress(text);
  return address === undefined ? undefined : formatIpAddress(address);
}

describe('IP address literals', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8::0001', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['::FFFF:c000:0201', '::ffff:192.0.2.1'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('reads %s as %s (RFC 5952)', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4 ',
    '0x7f.1',
    '2130706433',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::',
    '::1.2.3',
    '1.2.3.4::',
    '::1.2.3.4:5',
    'fe80::1%eth0',
    '[::1]',
    '::1/128',
  ])('refuses %j', (text) => {
    expect(parseIpAddress(text)).toBeUndefined();
  });

  it('takes an IPv4-mapped address for the IPv4 address', () => {
    const mapped = parseIpAddress('::ffff:10.0.0.1') as IpAddress;
    expect(formatIpAddress(withoutIpv4Mapping(mapped))).toBe('10.0.0.1');
  });
});

describe('the dial guard of peers and devices', () => {
  const refusal = (text: string, allowLoopback = false) =>
    deviceDialRefusal(parseIpAddress(text) as IpAddress, { allowLoopback });

  it.each([
    '192.0.2.1',
    '10.0.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '2001:db8::1',
    'fd00::1',
    '8.8.8.8',
  ])('lets %s through', (text) => {
    expect(refusal(text)).toBeUndefined();
  });

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '64:ff9b:1::169.254.169.254',
    '::169.254.169.254',
  ])('refuses %s as a metadata address', (text) => {
    expect(refusal(text)).toContain('metadata');
  });

  it.each([
    '0.0.0.0',
    '::',
    '224.0.0.1',
    'ff02::1',
    'fe80::1',
    '169.254.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '0.1.2.3',
  ])('refuses %s', (text) => {
    expect(refusal(text)).toBeDefined();
  });

  it('allows loopback where the run is local, and only there', () => {
    for (const text of ['127.0.0.1', '127.255.0.9', '::1', '::ffff:127.0.0.1']) {
      expect(refusal(text)).toContain('loopback');
      expect(refusal(text, true)).toBeUndefined();
    }
  });
});
