import { describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import { kinds } from '../api/core/kinds.ts';
import type { Draft, KindRef, Manifest, Resource } from '../api/meta.ts';
import type { Connection } from '../runtime/client/connection.ts';
import { ApiError, UnreachableError } from '../runtime/client/errors.ts';
import type { WatchLine } from '../runtime/client/watch-connection.ts';
import { clusterLine } from '../testing/contracts/cluster-line.ts';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { FakeCluster } from '../testing/fake/fake-cluster.ts';
import { TenantWatches } from './tenant-watches.ts';

const uid = 'tenant';
const connection = { server: 'https://tenant.example.org' };
const fieldManager = 'steward';
const labels = { ours: 'dns' };
const map: Manifest = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n', labels },
  data: {},
};
const account: Manifest = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a', namespace: 'n', labels } };
const theirs: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'theirs', namespace: 'n', labels } };
const kindOf = ({ kind }: Draft): KindRef => (kind === 'ConfigMap' ? kinds.ConfigMap : kinds.ServiceAccount);
const key = { name: 'a', namespace: 'n' };

/** One tenant, whose API server may go. */
class World {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster();
  readonly notifications: string[][] = [];
  readonly lines: WatchLine[] = [];
  /** What each line was opened with. */
  readonly connections: Connection[] = [];
  connection: Connection = connection;
  /** The limit of each list. */
  readonly limits: (number | undefined)[] = [];
  isUp = true;
  /** When the connections of lines were made. */
  connectedAt = -Infinity;
  /** Applied objects were written, and not only found. */
  areWritten = false;
  through = (line: WatchLine): WatchLine => line;
  readonly memory = new ObjectMemory();
  readonly watches = new TenantWatches({
    memory: this.memory,
    clock: this.clock,
    random: () => 0.5,
    select: () => ({ labelSelector: 'ours' }),
    open: (to) => {
      this.connections.push(to);
      const line = this.through(this.isUp ? clusterLine(this.cluster) : deadLine);
      this.lines.push(line);
      const list: WatchLine['list'] = (kind, options) => {
        this.limits.push(options.limit);
        return line.list(kind, options);
      };
      const connectedAt: WatchLine['connectedAt'] = async () => Math.max(await line.connectedAt(), this.connectedAt);
      return { ...line, list, connectedAt };
    },
  });

  /** Applies the component like a reconcile. */
  async apply(manifests: readonly Manifest[] = [map, account], createOnly: readonly Manifest[] = []): Promise<void> {
    const notify = (components: readonly string[]): void => void this.notifications.push([...components]);
    this.watches.applying(uid, 'dns', { connection: this.connection, notify });
    const applied: Resource[] = [];
    for (const manifest of manifests) {
      applied.push(await this.cluster.admin.apply(kindOf(manifest), manifest, { fieldManager }));
    }
    const presence = { component: 'dns', manifests, applied, createOnly, kindOf };
    const writtenAt = this.areWritten ? { writtenAt: this.clock.monotonic() } : {};
    this.watches.applied(uid, { ...presence, ...writtenAt }, this.connection);
  }

  /** A tenant that is listened to. */
  async listening(): Promise<this> {
    await this.apply();
    await this.clock.advance(20_000);
    expect(this.watches.isComplete(uid)).toBe(true);
    return this;
  }

  async edit(value = String(this.clock.monotonic())): Promise<void> {
    const body = { data: { value } };
    await this.cluster.admin.patch(kinds.ConfigMap, key, { type: 'merge', body });
    await this.clock.advance(0);
  }

  get calls(): number {
    return this.cluster.calls.length;
  }
}

const deadLine: WatchLine = {
  connectedAt: () => Promise.reject(new UnreachableError('nobody is there')),
  list: () => Promise.reject(new UnreachableError('nobody is there')),
  watch: (_kind, _selection, listener) => {
    queueMicrotask(() => {
      listener.ended(new UnreachableError('nobody is there'));
    });
    return () => undefined;
  },
  close: () => undefined,
};

describe('TenantWatches', () => {
  test('opens the connections of many tenants one by one after a start', async () => {
    const world = new World();
    await world.apply();
    await world.clock.advance(9_999);
    expect(world.lines.length).toBe(0);
    await world.clock.advance(1);
    expect(world.lines.length).toBe(1);
  });

  test('finds changes and deletions that happened before it watched, and while its connection was lost', async () => {
    const world = new World();
    await world.apply();
    await world.edit();
    await world.clock.advance(20_000);
    expect(world.notifications).toEqual([['dns']]);
    await world.apply();
    await world.clock.advance(600_000);
    world.isUp = false;
    world.cluster.endWatches(new UnreachableError('the line is dead'));
    await world.clock.advance(0);
    expect(world.watches.isComplete(uid)).toBe(false);
    await world.cluster.admin.delete(kinds.ServiceAccount, key);
    world.isUp = true;
    await world.clock.advance(20_000);
    expect(world.notifications).toEqual([['dns'], ['dns']]);
  });

  test('does not list what was just written, and notices what others did to it before it is watched', async () => {
    const world = new World();
    world.areWritten = true;
    await world.apply();
    await world.edit();
    await world.cluster.admin.delete(kinds.ServiceAccount, key);
    await world.clock.advance(20_000);
    expect(world.watches.isComplete(uid)).toBe(true);
    expect(world.notifications).toEqual([['dns']]);
    expect(world.limits).toEqual([]);
    await world.apply();
    await world.clock.advance(60_000);
    expect(world.notifications).toEqual([['dns']]);
    await world.edit();
    await world.clock.advance(60_000);
    expect(world.notifications).toEqual([['dns'], ['dns']]);
  });

  test('lists what was written longer ago, what was found, and what belongs to administrators', async () => {
    const listed = async (how: { readonly written: boolean; readonly downMs?: number; readonly more?: Manifest[] }) => {
      const world = new World();
      world.areWritten = how.written;
      world.isUp = how.downMs === undefined;
      await world.apply([map, account], how.more);
      await world.clock.advance(how.downMs ?? 0);
      world.isUp = true;
      await world.clock.advance(130_000);
      expect(world.watches.isComplete(uid)).toBe(true);
      return world.limits.length;
    };
    expect(await listed({ written: true })).toBe(0);
    expect(await listed({ written: false })).toBe(2);
    expect(await listed({ written: true, more: [theirs] })).toBe(1);
    expect(await listed({ written: true, downMs: 70_000 })).toBeGreaterThan(1);
  });

  test('lists if the API server no longer has the events since the writes', async () => {
    const world = new World();
    world.areWritten = true;
    let refusals = 2;
    world.through = (line) => ({
      ...line,
      watch: (kind, selection, listener) => {
        if (refusals === 0) return line.watch(kind, selection, listener);
        refusals -= 1;
        queueMicrotask(() => {
          listener.ended(new ApiError(410, 'Expired', 'too old resource version'));
        });
        return () => undefined;
      },
    });
    await world.apply();
    await world.edit();
    await world.clock.advance(30_000);
    expect(world.limits.length).toBe(2);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('watches with new credentials once they are used, and not with the former ones besides', async () => {
    const world = await new World().listening();
    await world.apply();
    await world.clock.advance(60_000);
    expect(world.lines.length).toBe(1);
    world.connection = { ...connection, token: 'new' };
    await world.apply();
    expect(world.watches.isComplete(uid)).toBe(false);
    await world.clock.advance(20_000);
    expect(world.connections).toEqual([connection, world.connection]);
    expect(world.watches.isComplete(uid)).toBe(true);
    await world.edit();
    await world.clock.advance(20_000);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('does not notify of our own write, even if its event arrives before its response', async () => {
    const world = await new World().listening();
    const notify = (): void => void world.notifications.push(['early']);
    world.watches.applying(uid, 'dns', { connection, notify });
    const manifest = { ...map, data: { value: 'new' } };
    const applied = await world.cluster.admin.apply<Resource>(kinds.ConfigMap, manifest, { fieldManager });
    await world.clock.advance(10_000);
    const other = await world.cluster.admin.get<Resource>(kinds.ServiceAccount, key);
    world.watches.applied(
      uid,
      {
        component: 'dns',
        manifests: [manifest, account],
        applied: [applied, ...(other ? [other] : [])],
        createOnly: [],
        kindOf,
      },
      connection,
    );
    await world.clock.advance(60_000);
    expect(world.notifications).toEqual([]);
    await world.edit('foreign');
    await world.clock.advance(500);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('notifies of an edit that arrives while the component is applied, and after an apply that failed', async () => {
    const world = await new World().listening();
    world.watches.applying(uid, 'dns', { connection, notify: () => undefined });
    await world.edit();
    await world.clock.advance(10_000);
    expect(world.notifications).toEqual([]);
    world.watches.failed(uid, 'dns');
    await world.clock.advance(500);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('evaluates a component only when the last of its applies has ended', async () => {
    const world = await new World().listening();
    for (let applies = 0; applies < 2; applies += 1)
      world.watches.applying(uid, 'dns', { connection, notify: () => undefined });
    await world.edit();
    world.watches.failed(uid, 'dns');
    await world.clock.advance(10_000);
    expect(world.notifications).toEqual([]);
    world.watches.failed(uid, 'dns');
    await world.clock.advance(500);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('has nothing to evaluate, and no timer, after a failed apply without events', async () => {
    const world = await new World().listening();
    world.watches.applying(uid, 'dns', { connection, notify: () => undefined });
    world.watches.failed(uid, 'dns');
    expect(world.clock.pending).toBe(0);
  });

  test('notifies less and less often while a tool edits in a loop, and at once again after a quiet time', async () => {
    const world = await new World().listening();
    const began = world.clock.monotonic();
    const notifications: number[] = [];
    for (let seconds = 0; seconds < 3600; seconds += 1) {
      const before = world.notifications.length;
      await world.edit();
      await world.clock.advance(1000);
      if (world.notifications.length > before) {
        notifications.push(Math.round((world.clock.monotonic() - began) / 1000));
        await world.apply();
      }
    }
    expect(notifications.slice(0, 6)).toEqual([1, 3, 7, 15, 31, 63]);
    expect(notifications.length).toBeLessThan(22);
    // However long it goes on, an edit is repaired within five minutes.
    expect(
      Math.max(...notifications.slice(1).map((at, before) => at - (notifications[before] ?? 0))),
    ).toBeLessThanOrEqual(301);
    await world.clock.advance(300_000);
    await world.apply();
    await world.clock.advance(600_000);
    const before = world.notifications.length;
    await world.edit();
    await world.clock.advance(500);
    expect(world.notifications.length).toBe(before + 1);
  });

  test('notifies if an object of the administrators that existed is deleted, and ignores their objects without our label', async () => {
    const world = new World();
    const unlabeled = { ...theirs.metadata, labels: {} };
    await world.cluster.admin.create(kinds.ConfigMap, { ...theirs, metadata: unlabeled });
    await world.apply([map], [theirs]);
    await world.clock.advance(60_000);
    expect(world.notifications).toEqual([]);
    const at = { name: 'theirs', namespace: 'n' };
    await world.cluster.admin.delete(kinds.ConfigMap, at);
    await world.cluster.admin.create(kinds.ConfigMap, theirs);
    await world.clock.advance(60_000);
    expect(world.notifications).toEqual([]);
    await world.cluster.admin.delete(kinds.ConfigMap, at);
    await world.clock.advance(500);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('does not notify of an object of the administrators that they delete and create again at once', async () => {
    const world = new World();
    await world.cluster.admin.create(kinds.ConfigMap, theirs);
    await world.apply([map], [theirs]);
    await world.clock.advance(20_000);
    await world.cluster.admin.delete(kinds.ConfigMap, { name: 'theirs', namespace: 'n' });
    await world.clock.advance(100);
    await world.cluster.admin.create(kinds.ConfigMap, theirs);
    await world.clock.advance(60_000);
    expect(world.notifications).toEqual([]);
  });

  test('opens another connection if one fails while it is being closed', async () => {
    const world = new World();
    let isBroken = true;
    world.through = (line) => ({
      ...line,
      watch: (kind, selection, listener) => {
        const stop = line.watch(kind, selection, listener);
        return () => {
          stop();
          if (!isBroken) return;
          isBroken = false;
          throw new Error('the line is broken');
        };
      },
    });
    await world.listening();
    await world.apply([map]);
    await world.clock.advance(20_000);
    expect([world.lines.length, world.watches.isComplete(uid)]).toEqual([2, true]);
  });

  test('opens watches again that the server ended, without a busy loop if it ends them at once', async () => {
    const world = await new World().listening();
    const calls = world.calls;
    for (let ends = 0; ends < 200; ends += 1) {
      world.cluster.endWatches();
      await world.clock.advance(500);
    }
    expect(world.calls - calls).toBeLessThan(20);
    await world.clock.advance(600_000);
    await world.edit();
    await world.clock.advance(500);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('doubles the pause before the next watch if the server ended the last one within a minute, and not later', async () => {
    for (const { livedMs, pauseMs } of [
      { livedMs: 60_000, pauseMs: 3_000 },
      { livedMs: 60_001, pauseMs: 750 },
    ]) {
      const world = await new World().listening();
      const watchCalls = (): number => world.cluster.calls.filter(({ verb }) => verb === 'watch').length;
      world.cluster.endWatches();
      await world.clock.advance(1_500);
      const opened = watchCalls();
      await world.clock.advance(livedMs);
      world.cluster.endWatches();
      await world.clock.advance(pauseMs - 1);
      expect(watchCalls()).toBe(opened);
      await world.clock.advance(1);
      expect(watchCalls()).toBeGreaterThan(opened);
    }
  });

  test('lists again if a version is too old', async () => {
    const world = await new World().listening();
    await world.clock.advance(100_000);
    world.cluster.endWatches(new ApiError(410, 'Expired', 'too old resource version'));
    await world.clock.advance(0);
    await world.edit();
    await world.clock.advance(5_000);
    expect([world.notifications, world.lines.length]).toEqual([[['dns']], 1]);
  });

  test('notifies of every component if the data of the tenant was restored from an older state', async () => {
    const world = new World();
    for (let edits = 0; edits < 50; edits += 1)
      await world.cluster.admin.apply(kinds.ConfigMap, { ...map, data: { edits: String(edits) } }, { fieldManager });
    await world.listening();
    await world.clock.advance(100_000);
    const restored = new FakeCluster();
    await restored.admin.apply(kinds.ConfigMap, map, { fieldManager });
    world.lines.splice(0);
    world.cluster.endWatches(new UnreachableError('the line is dead'));
    Object.assign(world, { cluster: restored });
    await world.clock.advance(20_000);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('notifies of what was just written if the data was restored from a backup right afterwards', async () => {
    const world = new World();
    world.areWritten = true;
    for (let edits = 0; edits < 50; edits += 1)
      await world.cluster.admin.apply(kinds.ConfigMap, { ...map, data: { edits: String(edits) } }, { fieldManager });
    await world.listening();
    expect([world.limits, world.notifications]).toEqual([[], []]);
    const restored = new FakeCluster();
    await restored.admin.apply(kinds.ConfigMap, map, { fieldManager });
    world.cluster.endWatches(new UnreachableError('the line is dead'));
    Object.assign(world, { cluster: restored, connectedAt: world.clock.monotonic() });
    await world.clock.advance(20_000);
    expect(world.notifications).toEqual([['dns']]);
  });

  test('lists what was written over another connection: a server may have other data since', async () => {
    const listed = async (connectedAt: number): Promise<number> => {
      const world = new World();
      world.areWritten = true;
      world.connectedAt = connectedAt;
      await world.clock.advance(5_000);
      await world.apply();
      await world.clock.advance(20_000);
      expect(world.watches.isComplete(uid)).toBe(true);
      return world.limits.length;
    };
    expect(await listed(4_999)).toBe(0);
    expect(await listed(5_000)).toBe(2);
  });

  test('limits its lists, and does not treat objects beyond the limit as deleted', async () => {
    const world = new World();
    for (let at = 0; at < 220; at += 1) {
      const metadata = { name: `0-${at}`, namespace: 'n', labels };
      await world.cluster.admin.create(kinds.ConfigMap, { ...map, metadata });
    }
    await world.apply([map]);
    const shown: number[] = [];
    const whole = clusterLine(world.cluster);
    world.through = (line) => ({
      ...line,
      list: async (kind, selection) => {
        const page = await whole.list(kind, selection);
        shown.push(page.items.length);
        return page;
      },
    });
    await world.clock.advance(60_000);
    expect([shown, world.notifications]).toEqual([[200], []]);
  });

  test('gives up a tenant that does not answer until its next reconcile', async () => {
    const world = new World();
    world.isUp = false;
    await world.apply();
    await world.clock.advance(24 * 60 * 60_000);
    expect(world.lines.length).toBe(8);
    expect(world.clock.pending).toBe(0);
    world.isUp = true;
    world.watches.wake(uid);
    await world.clock.advance(120_000);
    expect([world.lines.length, world.watches.isComplete(uid)]).toEqual([9, true]);
  });

  test('sends no requests and has no timer while nothing happens', async () => {
    const world = await new World().listening();
    const calls = world.calls;
    await world.clock.advance(24 * 60 * 60_000);
    expect([world.calls - calls, world.clock.pending, world.notifications]).toEqual([0, 0, []]);
  });

  test('stores no objects that a tenant creates with our label, and does not notify of them', async () => {
    const world = await new World().listening();
    const metadata = { name: 'made-by-the-tenant', namespace: 'n', labels };
    await world.cluster.admin.create(kinds.ConfigMap, { ...map, metadata });
    await world.clock.advance(0);
    expect(world.clock.pending).toBe(0);
    // The same watch, by an object that is ours.
    await world.edit();
    expect(world.clock.pending).toBe(1);
  });

  test('closes its connection when no component has objects, and when the tenant is gone', async () => {
    const world = await new World().listening();
    await world.apply([]);
    expect(world.watches.isComplete(uid)).toBe(false);
    await world.apply();
    await world.clock.advance(20_000);
    expect(world.watches.isComplete(uid)).toBe(true);
    world.memory.drop(uid);
    await world.edit();
    await world.clock.advance(60_000);
    expect([world.notifications, world.clock.pending, world.watches.isComplete(uid)]).toEqual([[], 0, false]);
  });

  test('reads at most two hundred objects of a list, because the tenant creates more with our label', async () => {
    const world = await new World().listening();
    expect(new Set(world.limits)).toEqual(new Set([200]));
  });
});
