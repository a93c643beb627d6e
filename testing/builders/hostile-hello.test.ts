import { describe, expect, test } from '@jest/globals';
import { ClientHelloReader } from '../../tenants/activator/client-hello.ts';
import type { HelloReading } from '../../tenants/activator/client-hello.ts';
import { hostileHello, hostileKinds, validHello } from './hostile-hello.ts';

function read(bytes: Buffer): HelloReading {
  const reader = new ClientHelloReader();
  reader.push(bytes);
  return reader.reading;
}

const many = Array.from({ length: 3_000 }, (_, index) => hostileHello(index));

describe('A hostile hello', () => {
  test('is never complete, while the one that it differs from is', () => {
    expect(read(validHello())).toEqual({ is: 'complete' });
    expect(many.filter(({ bytes }) => read(bytes).is === 'complete').map(({ kind }) => kind)).toEqual([]);
  });

  test.each([
    ['plain HTTP', [{ is: 'refused', why: 'NotTls' }]],
    ['nothing', [{ is: 'partial' }]],
    ['cut off', [{ is: 'partial' }]],
    ['slow', [{ is: 'partial' }]],
    ['oversized', [{ is: 'refused', why: 'TooLong' }]],
    [
      'old version',
      [
        { is: 'refused', why: 'NotTls' },
        { is: 'refused', why: 'OldVersion' },
      ],
    ],
    ['lengths that lie', [{ is: 'partial' }, { is: 'refused', why: 'Malformed' }, { is: 'refused', why: 'NotTls' }]],
  ])('of the kind "%s" is what it says', (wanted, readings) => {
    const found = many.filter(({ kind }) => kind === wanted).map(({ bytes }) => JSON.stringify(read(bytes)));
    expect(new Set(found)).toEqual(new Set(readings.map((one) => JSON.stringify(one))));
  });

  test('is of each kind in turn, and the same for the same number', () => {
    expect(many.slice(0, hostileKinds.length).map(({ kind }) => kind)).toEqual([...hostileKinds]);
    expect(hostileHello(1_234)).toEqual(hostileHello(1_234));
  });
});
