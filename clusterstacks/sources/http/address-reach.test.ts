import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { reachOf } from './address-reach.ts';

describe('The reach of an address', () => {
  test.each([
    ['1.1.1.1', 'public'],
    ['2606:4700::1111', 'public'],
    ['::ffff:1.1.1.1', 'public'],
    ['64:ff9b::101:101', 'public'],
    ['10.96.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::a00:1', 'private'],
    ['2002:a00:1::', 'private'],
    ['169.254.169.254', 'link'],
    ['100.100.100.200', 'link'],
    ['168.63.129.16', 'link'],
    ['fd00:ec2::254', 'link'],
    ['fe80::1', 'link'],
    ['fe80::1%eth0', 'link'],
    ['224.0.0.1', 'link'],
    ['255.255.255.255', 'link'],
    ['64:ff9b::a9fe:a9fe', 'link'],
    ['no address', 'link'],
    ['', 'link'],
    ['127.0.0.1', 'machine'],
    ['127.8.9.1', 'machine'],
    ['0.0.0.0', 'machine'],
    ['::', 'machine'],
    ['::1', 'machine'],
    ['::ffff:7f00:1', 'machine'],
    ['2002:7f00:1::', 'machine'],
  ])('%s is %s', (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  });

  test('is the same for an IPv4 address inside an IPv6 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const reach = reachOf(address);
        expect([`::ffff:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::`].map(reachOf)).toEqual([reach, reach, reach]);
      }),
    );
  });
});
