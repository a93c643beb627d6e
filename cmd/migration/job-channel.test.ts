import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import { UnreachableError } from '../../runtime/client/errors.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { MigrationProgress } from '../../stores/migration/migration-progress.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { migrateAccess, migrateNamespaceAccess } from '../migrate-access.ts';
import { JobChannel } from './job-channel.ts';
import { JobFreeze } from './job-freeze.ts';
import { JobHeartbeat } from './job-heartbeat.ts';
import { JobJournal } from './job-journal.ts';

const key = { namespace: 'steward-system', name: 'migrate-1' };

async function withJob(): Promise<{ readonly cluster: FakeCluster; readonly channel: JobChannel }> {
  const cluster = new FakeCluster({ access: [...migrateAccess, ...migrateNamespaceAccess] });
  await cluster.seed(kinds.Job, { apiVersion: 'batch/v1', kind: 'Job', metadata: key, spec: {} });
  return { cluster, channel: new JobChannel(cluster, key) };
}

/** What the controller, or a person, writes into the Job. */
async function annotate(cluster: FakeCluster, values: Readonly<Record<string, string>>): Promise<void> {
  await cluster.admin.patch(kinds.Job, key, { type: 'merge', body: { metadata: { annotations: values } } });
}

describe('The journal in the Job', () => {
  test('gives a later process the entries of an earlier one', async () => {
    const { channel } = await withJob();
    const first = new JobJournal(channel, 'first');
    expect(await first.read()).toBeUndefined();
    await first.write({ phase: 'Copying' });
    await first.write({ phase: 'Following', revision: '7' });
    const second = new JobJournal(channel, 'second');
    expect(await second.read()).toMatchObject({ phase: 'Following', revision: '7' });
    await second.write({ phase: 'RollingBack', reason: 'x' });
  });

  test('refuses to write if another process has written in between, and changes nothing', async () => {
    const { channel } = await withJob();
    const [first, second] = [new JobJournal(channel, 'first'), new JobJournal(channel, 'second')];
    await Promise.all([first.read(), second.read()]);
    await second.write({ phase: 'Copying' });
    await expect(first.write({ phase: 'Copying' })).rejects.toThrow('another process works on this migration');
    expect(await second.read()).toMatchObject({ writer: 'second' });
  });

  test('accepts only one of two concurrent writes', async () => {
    const { cluster, channel } = await withJob();
    const [first, second] = [new JobJournal(channel, 'first'), new JobJournal(channel, 'second')];
    await Promise.all([first.read(), second.read()]);
    // Both have looked before either has written.
    let waiting = 2;
    const both = Promise.withResolvers<undefined>();
    cluster.before(async ({ verb }) => {
      if (verb !== 'patch') return;
      waiting -= 1;
      if (waiting === 0) both.resolve(undefined);
      await both.promise;
    });
    const outcomes = await Promise.allSettled([first.write({ phase: 'Copying' }), second.write({ phase: 'Copying' })]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('continues if others update the Job, and if the answer to a write was lost', async () => {
    const { cluster, channel } = await withJob();
    const journal = new JobJournal(channel, 'first');
    await journal.read();
    let disturbances = 3;
    cluster.before(async ({ verb }) => {
      if (verb !== 'patch' || disturbances === 0) return;
      disturbances -= 1;
      await annotate(cluster, { other: String(disturbances) });
    });
    await journal.write({ phase: 'Copying' });
    cluster.crashAfter(2, { losesAnswer: true });
    await expect(journal.write({ phase: 'Following' })).rejects.toThrow();
    cluster.restart();
    await journal.write({ phase: 'Following' });
    expect(await journal.read()).toMatchObject({ phase: 'Following' });
  });
});

describe('The request for read-only mode through the Job', () => {
  test('is fulfilled once the controller has answered this very request', async () => {
    const { cluster, channel } = await withJob();
    const clock = new FakeClock();
    await annotate(cluster, { [annotations.migrationFreezeInForce]: 'an earlier wish' });
    const freeze = new JobFreeze(channel, clock, () => 'wish');
    let isThere = false;
    const request = freeze.request(new AbortController().signal).then(() => {
      isThere = true;
    });
    await clock.advance(1000);
    expect(isThere).toBe(false);
    expect((await channel.read()).freezeWanted).toBe('wish');
    await annotate(cluster, { [annotations.migrationFreezeInForce]: 'wish' });
    await clock.advance(100);
    await request;
    await freeze.release();
    expect((await channel.read()).freezeWanted).toBeUndefined();
  });

  test('is awaited no longer than the caller wants', async () => {
    const { channel } = await withJob();
    const clock = new FakeClock();
    const stop = new AbortController();
    const request = new JobFreeze(channel, clock, () => 'wish').request(stop.signal);
    const outcome = expect(request).rejects.toThrow('enough');
    await clock.advance(100);
    stop.abort(new Error('enough'));
    await outcome;
  });
});

describe('The heartbeat of a migration', () => {
  const progress = (keys: number): MigrationProgress => ({
    phase: 'Copying',
    keys,
    bytes: 0,
    keysPerSecond: 0,
    bytesPerSecond: 0,
  });

  async function beating(): Promise<{
    readonly cluster: FakeCluster;
    readonly channel: JobChannel;
    readonly clock: FakeClock;
    readonly heartbeat: JobHeartbeat;
    readonly layerWatches: string[];
    readonly end: () => Promise<void>;
  }> {
    const { cluster, channel } = await withJob();
    const clock = new FakeClock();
    const layerWatches: string[] = [];
    const heartbeat = new JobHeartbeat({
      channel,
      clock,
      log: silent,
      canceled: (reason) => layerWatches.push(`canceled: ${reason}`),
      lost: () => layerWatches.push('lost'),
    });
    const stop = new AbortController();
    const running = heartbeat.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    return { cluster, channel, clock, heartbeat, layerWatches, end };
  }

  test('reports the newest progress, at most once a second', async () => {
    const { cluster, channel, clock, heartbeat, end } = await beating();
    for (let keys = 1; keys <= 30; keys += 1) {
      heartbeat.report(progress(keys));
      await clock.advance(100);
    }
    expect((await channel.read()).progress).toMatchObject({ keys: 30 });
    expect(cluster.calls.filter(({ verb }) => verb === 'patch').length).toBeLessThanOrEqual(4);
    await end();
  });

  test('reports once that the migration was canceled', async () => {
    const { cluster, clock, layerWatches, end } = await beating();
    await annotate(cluster, { [annotations.migrationCancel]: 'spec.dataStore was set back' });
    await clock.advance(3000);
    expect(layerWatches).toEqual(['canceled: spec.dataStore was set back']);
    await end();
  });

  test('ends the process if the API server cannot be reached for a long time, and not before', async () => {
    const { cluster, clock, layerWatches, end } = await beating();
    const away = new UnreachableError('no answer');
    cluster.failNext({}, away, 10);
    await clock.advance(12_000);
    expect(layerWatches).toEqual([]);
    cluster.failNext({}, away, 1000);
    await clock.advance(17_000);
    expect(layerWatches).toEqual(['lost']);
    await end();
  });
});
