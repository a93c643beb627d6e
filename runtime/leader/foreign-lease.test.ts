import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { microTime } from '../observe/event-recorder.ts';
import { ForeignLease } from './foreign-lease.ts';
import { InformerFactory } from '../cache/informer-factory.ts';

const name = 'other.example.com';
let clock: FakeClock;
let cluster: FakeCluster;
let informers: InformerFactory;
let changes: number;
let lease: ForeignLease;

beforeEach(async () => {
  clock = new FakeClock();
  cluster = new FakeCluster({ now: () => clock.now().getTime() });
  informers = new InformerFactory({ cluster: cluster.admin, clock, random: () => 0.5 });
  changes = 0;
  await renew({ namespace: 'unrelated', leaseName: 'ours' });
});
afterEach(async () => {
  lease.close();
  await informers.close();
});

async function renew(
  of: { readonly namespace?: string; readonly leaseName?: string; readonly at?: Date; readonly holder?: string } = {},
): Promise<void> {
  await cluster.seed(kinds.Lease, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: of.namespace ?? 'operators', name: of.leaseName ?? name },
    ...{ spec: { holderIdentity: of.holder ?? 'pod-1', renewTime: microTime(of.at ?? clock.now()) } },
  });
  await clock.advance(0);
}

async function watch(): Promise<void> {
  lease = new ForeignLease({
    informers,
    clock,
    name,
    changed: () => {
      changes += 1;
    },
  });
  await clock.advance(0);
  await lease.synced;
}

test('A Lease that is renewed is held, in any namespace, until it is no longer renewed', async () => {
  await watch();
  expect(lease.holder).toBeUndefined();
  await renew();
  expect(lease.holder).toBe('pod-1 (Lease operators/other.example.com)');
  await clock.advance(50_000);
  await renew();
  await clock.advance(50_000);
  expect(lease.holder).toBeDefined();
  await clock.advance(11_000);
  expect([lease.holder, changes]).toEqual([undefined, 2]);
});

test('A Lease that a finished program left is not held', async () => {
  await renew({ at: new Date(clock.now().getTime() - 3_600_000) });
  await watch();
  expect([lease.holder, changes]).toEqual([undefined, 0]);
});

test('A Lease with a renewal time in the future is held no longer than one that is not renewed', async () => {
  const ahead = new Date('2099-01-01T00:00:00Z');
  await renew({ at: ahead });
  await watch();
  expect([lease.holder, changes]).toEqual([undefined, 0]);
  await renew({ at: new Date(ahead.getTime() + 1_000) });
  expect(lease.holder).toBeDefined();
  await clock.advance(61_000);
  expect([lease.holder, changes]).toEqual([undefined, 2]);
});

test('A Lease that is renewed by a clock some seconds ahead is held from the first read', async () => {
  await renew({ at: new Date(clock.now().getTime() + 10_000) });
  await watch();
  expect(lease.holder).toBeDefined();
});

test('A Lease that is renewed by a clock hours behind is held all the same', async () => {
  const behind = (): Date => new Date(clock.now().getTime() - 3 * 3_600_000);
  await renew({ at: behind() });
  await watch();
  await clock.advance(2_000);
  await renew({ at: behind() });
  expect(lease.holder).toBeDefined();
});

test('A Lease that its holder releases or that is deleted is free at once', async () => {
  await renew();
  await watch();
  expect(lease.holder).toBeDefined();
  await renew({ holder: '' });
  expect(lease.holder).toBeUndefined();
  await renew();
  await cluster.admin.delete(kinds.Lease, { namespace: 'operators', name });
  await clock.advance(0);
  expect([lease.holder, changes]).toEqual([undefined, 4]);
});
