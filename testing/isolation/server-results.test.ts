import { expect, test } from '@jest/globals';
import { serverResults } from './server-results.ts';

test('counts what was tried on each server, and what a verification needs', () => {
  const lines = [
    'PASS contract stores/etcd/driver.contract.test.ts',
    'isolation etcd v3.6.16: 180 attempts, 0 breaches',
    'isolation etcd v3.6.16 between 7 pairs of like names: 1260 attempts, 1 breaches',
    "isolation etcd v3.6.16 [planted: the victim's role]: 90 attempts, 31 breaches",
    'isolation etcd v3.6.16 [planted: a wide role]: 90 attempts, 0 breaches',
    "verification etcd v3.6.16 [planted: the victim's role]: get in 1 attempts",
    'verification etcd v3.6.16 [planted: a wide role]: nothing in 60 attempts',
    'verification etcd v3.6.16: 88 attempts, 0 breaches, 900 ms (420 ms without waiting for others), 90000 bytes, version 3.6.16',
    'verification etcd v3.6.13: {"attempts":3,"breach":"watch all keys from the own prefix on"}',
    'verification MariaDB with TLS: 187 attempts, 0 breaches, 9 ms (8 ms without waiting for others), 7 bytes, version 10.11.19 (MariaDB)',
  ];
  expect(serverResults(lines)).toEqual([
    {
      ...{ title: 'MariaDB with TLS', driver: 'MySQL', version: '10.11.19 (MariaDB)', attempts: 187, breaches: 0 },
      ...{ faults: 0, found: 0, ms: 8, bytes: 7 },
    },
    {
      ...{ title: 'etcd v3.6.16', driver: 'etcd', version: '3.6.16', attempts: 1528, breaches: 1 },
      ...{ faults: 4, found: 2, ms: 420, bytes: 90_000 },
    },
  ]);
});
