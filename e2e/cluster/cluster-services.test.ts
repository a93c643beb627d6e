import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { PlainObject } from './kubernetes-client.ts';
import { AddressPool } from './network/load-balancer.ts';
import { storageClassName, volumeFor } from './local-volumes.ts';

describe('AddressPool', () => {
  test('never gives one address to two holders', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 9 })), { maxLength: 60 }), (steps) => {
        const pool = new AddressPool('172.31.0.0/28');
        const held = new Map<string, string>();
        for (const [take, number] of steps) {
          const holder = `ns/${number}`;
          if (take) {
            const address = pool.take(holder);
            expect(held.get(holder) ?? address).toBe(address);
            held.set(holder, address);
          } else {
            pool.giveBack(holder);
            held.delete(holder);
          }
          expect(new Set(held.values()).size).toBe(held.size);
        }
      }),
    );
  });

  test('gives a Service its existing address', () => {
    const pool = new AddressPool('172.31.0.0/24');
    expect(pool.take('ns/old', '172.31.0.7')).toBe('172.31.0.7');
    expect(pool.take('ns/new')).toBe('172.31.0.1');
  });

  test('reports that no address is free', () => {
    const pool = new AddressPool('172.31.0.0/30');
    pool.take('a');
    pool.take('b');
    expect(() => pool.take('c')).toThrow(/No load-balancer address is free for c/);
  });
});

describe('volumeFor', () => {
  const claim = (spec: Record<string, unknown>): PlainObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-0', namespace: 'stores', uid: 'u1' },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } }, ...spec },
  });

  test('creates a folder that is bound to this claim only', () => {
    expect(volumeFor(claim({}))?.spec).toMatchObject({
      capacity: { storage: '2Gi' },
      claimRef: { name: 'data-0', namespace: 'stores', uid: 'u1' },
      hostPath: { path: '/var/lib/local-volumes/local-u1' },
    });
  });

  test('ignores claims that have a volume or another class', () => {
    expect(volumeFor(claim({ volumeName: 'local-u1' }))).toBeUndefined();
    expect(volumeFor(claim({ storageClassName: 'fast' }))).toBeUndefined();
  });
});
