import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressesText, nodeAddressPage } from './node-address-page.ts';

describe('A page of nodes', () => {
  test('has their internal and external addresses, and where the next page begins', () => {
    const addresses = [
      { type: 'InternalIP', address: '192.0.2.1' },
      { type: 'ExternalIP', address: '2001:db8::1' },
      { type: 'Hostname', address: '192.0.2.3' },
      { type: 'InternalIP', address: 'node-1' },
    ];
    const body = JSON.stringify({ metadata: { continue: 'more' }, items: [{ status: { addresses } }, {}] });
    expect(nodeAddressPage(body)).toEqual({ addresses: ['192.0.2.1', '2001:db8::1'], next: 'more' });
  });

  test('may be anything', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        expect(nodeAddressPage(body).addresses).toEqual([]);
      }),
    );
  });
});

describe('The text of addresses', () => {
  test('has each address once, in one order', () => {
    expect(addressesText(['192.0.2.2', '192.0.2.1', '192.0.2.2'])).toBe('192.0.2.1,192.0.2.2');
    expect(addressesText([])).toBe('');
  });

  test('is cut between two addresses where there are too many for an annotation', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    const text = addressesText(many);
    expect(text.length).toBeLessThanOrEqual(128 * 1024);
    expect(text.split(',').every((one) => many.includes(one))).toBe(true);
  });
});
