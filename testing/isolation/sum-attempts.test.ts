import { expect, test } from '@jest/globals';
import { sumAttempts } from './sum-attempts.ts';

test('adds up the attempts on servers as they should be, and apart from them the planted mistakes', () => {
  const lines = [
    'PASS contract stores/etcd/driver.contract.test.ts',
    'isolation etcd v3.6.16: 180 attempts, 0 breaches',
    'isolation etcd v3.6.16 between 7 pairs of like names: 1260 attempts, 0 breaches',
    'verification etcd v3.6.16: 120 attempts, 0 breaches, 410 ms, 90000 bytes',
    "isolation etcd v3.6.16 [planted: the victim's role]: 90 attempts, 31 breaches",
    'verification PostgreSQL with TLS: 300 attempts, 1 breaches, 900 ms, 90000 bytes',
    "verification etcd v3.6.16 [planted: the victim's role]: get in 1 attempts",
  ];
  expect(sumAttempts(lines)).toEqual({ attempts: 1860, breaches: 1, faults: 2, missed: 0 });
});

test('counts a planted mistake that nothing has found', () => {
  const lines = [
    'isolation etcd v3.6.16 [planted: a wide role]: 90 attempts, 0 breaches',
    'verification etcd v3.6.16 [planted: a wide role]: nothing in 60 attempts',
  ];
  expect(sumAttempts(lines)).toEqual({ attempts: 0, breaches: 0, faults: 2, missed: 2 });
});
