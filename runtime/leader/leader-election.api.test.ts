import { afterEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { kinds } from '../../api/core/kinds.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import { systemClock } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import { openCluster } from '../client/http-cluster.ts';
import { LeaderElection } from './leader-election.ts';
import { silent } from '../observe/logger.ts';

const opened = new Set<Cluster>();
afterEach(async () => {
  await Promise.all([...opened].map(close));
});

const close = async (cluster: Cluster): Promise<void> => {
  opened.delete(cluster);
  await cluster.close();
};
const connect = async (): Promise<Cluster> => {
  const server = await apiServerUnderTest();
  const cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
  opened.add(cluster);
  return cluster;
};

/** Shorter than the usual fifteen seconds, and long enough for a pause of the machine between two renewals. */
const times = { durationMs: 5000, renewWithinMs: 3000, retryMs: 100 };
const candidate = (cluster: Cluster, identity: string, name: string): LeaderElection & { why?: Error } => {
  const election: LeaderElection & { why?: Error } = new LeaderElection({
    cluster,
    clock: systemClock,
    log: silent,
    lease: { namespace: 'default', name },
    identity,
    random: Math.random,
    lost: (why) => {
      election.why = why;
    },
    ...times,
  });
  election.start();
  return election;
};

test('one of two candidates leads; when it retires, and when its connection dies, the other takes over', async () => {
  const name = `leader-${randomUUID()}`;
  const [first, second, third] = [await connect(), await connect(), await connect()];
  const a = candidate(first, 'a', name);
  await a.elected;
  const b = candidate(second, 'b', name);
  let together = 0;
  const watcher = setInterval(() => {
    if (a.leads && b.leads) together += 1;
  }, 5);
  try {
    await a.release();
    await b.elected;
    expect([a.leads, b.leads]).toEqual([false, true]);
    const c = candidate(third, 'c', name);
    await close(second);
    await c.elected;
    expect([b.leads, c.leads]).toEqual([false, true]);
    expect(b.why).toBeInstanceOf(Error);
    const lease = await first.get(kinds.Lease, { namespace: 'default', name });
    expect(lease?.spec).toMatchObject({ holderIdentity: 'c', leaseTransitions: 2 });
    await c.release();
    expect((await first.get(kinds.Lease, { namespace: 'default', name }))?.spec?.holderIdentity).toBeUndefined();
  } finally {
    clearInterval(watcher);
  }
  expect(together).toBe(0);
});
