import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nodeAddressPage } from './node-address-page.ts';

const internal = (address: string) => ({ type: 'InternalIP', address });
const pageOf = (nodes: readonly (readonly unknown[])[], next?: string): string =>
  JSON.stringify({ metadata: { continue: next }, items: nodes.map((addresses) => ({ status: { addresses } })) });
const some = (count: number, group = 0) =>
  Array.from({ length: count }, (_, index) => internal(`10.${group}.${index >> 8}.${index & 255}`));

describe('A page of nodes', () => {
  test('has their internal and external addresses, and where the next page begins', () => {
    const addresses = [
      internal('192.0.2.1'),
      { type: 'ExternalIP', address: '2001:DB8:0::1' },
      { type: 'Hostname', address: '192.0.2.3' },
      internal('node-1'),
    ];
    expect(nodeAddressPage(pageOf([addresses, []], 'more'))).toEqual({
      addresses: ['192.0.2.1', '2001:db8::1'],
      next: 'more',
      isCut: false,
    });
  });

  test('may be anything', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        expect(nodeAddressPage(body).addresses).toEqual([]);
      }),
    );
  });

  test('has no more than the first 16 addresses of one node, and all of the next', () => {
    const { addresses, isCut } = nodeAddressPage(pageOf([some(2_000), some(2, 1)]));
    expect([addresses.length, addresses.slice(-2), isCut]).toEqual([18, ['10.1.0.0', '10.1.0.1'], true]);
  });

  test('is not read to its end where a node has countless entries that are no addresses', () => {
    const entries = [...Array.from({ length: 64 }, () => internal('none')), internal('192.0.2.1')];
    expect(nodeAddressPage(pageOf([entries]))).toEqual({ addresses: [], isCut: true });
  });

  test('has no more nodes than were requested', () => {
    const { addresses, isCut } = nodeAddressPage(pageOf(Array.from({ length: 51 }, (_, index) => some(1, index))));
    expect([addresses.length, isCut]).toEqual([50, true]);
  });
});
