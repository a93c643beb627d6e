import { expect, test } from '@jest/globals';
import { isolationPage } from './isolation-page.ts';
import type { ServerResult } from './server-results.ts';

const server: ServerResult = {
  ...{ title: 'etcd v3.6.16', driver: 'etcd', version: '3.6.16', attempts: 1528, breaches: 1 },
  ...{ faults: 4, found: 3, ms: 420, bytes: 90_000 },
};

test('the page of a run adds up all servers and has a row for each', () => {
  const page = isolationPage({ commit: 'abc', date: '2026-01-02', servers: [server, server] });
  expect(page).toContain(
    'Seen at commit abc on 2026-01-02: 3056 attempts, breaches (2); 8 planted mistakes, 2 missed.',
  );
  expect(page).toContain('| etcd | etcd v3.6.16 | 3.6.16 | 1528 | 1 | 4 | 3 | 420 | 90000 |');
});
