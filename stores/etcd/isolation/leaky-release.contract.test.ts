import { expect, test } from '@jest/globals';
import { leakyEtcd } from '../../../e2e/tools/etcd-releases.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { startEtcdUnderTest } from '../../../testing/contracts/stores/etcd/store-under-test.ts';
import { verifyIsolation } from '../../isolation/verify-isolation.ts';

const { signal } = new AbortController();

test(`etcd ${leakyEtcd.version} is found to let a tenant watch keys beyond its own (CVE-2026-73499)`, async () => {
  await using store = await startEtcdUnderTest(leakyEtcd.version);
  const { driver, config } = store;
  await using session = await driver.open(config, signal);
  expect(await session.ping()).toMatchObject({ supported: false });
  const before = await store.dump();
  const verdict = await verifyIsolation({ driver, config, session, id: 'leaky', clock: systemClock, signal });
  process.stderr.write(`verification etcd ${leakyEtcd.version}: ${JSON.stringify(verdict)}\n`);
  expect(verdict.breach).toMatch(/^watch all keys from the (?:own prefix|compaction key) on$/);
  expect(await store.dump()).toEqual(before);
}, 60_000);
