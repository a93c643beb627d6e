import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CallerAddresses } from './caller-addresses.ts';

describe('Addresses of callers', () => {
  test('are those of networks, in both families', () => {
    const known = new CallerAddresses({ networks: ['10.244.0.0/16', 'fd00::/8'] });
    expect(
      ['10.244.3.4', '::ffff:10.244.3.4', '10.245.0.1', 'fd12::1', 'fe80::1'].map((one) => known.has(one)),
    ).toEqual([...[true, true, false], ...[true, false]]);
  });

  test('are none without a peer', () => {
    expect(new CallerAddresses({ networks: ['0.0.0.0/0'] }).has(undefined)).toBe(false);
  });

  test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.0/x', 'shop/8', '', '::/129'])(
    'are refused as the network "%s"',
    (network) => {
      expect(() => new CallerAddresses({ networks: [network] })).toThrow(RangeError);
    },
  );

  test('of nodes may be anything', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6())), fc.ipV4(), (addresses, peer) => {
        expect(new CallerAddresses({ addresses }).has(peer)).toBe(addresses.includes(peer));
      }),
    );
  });
});
