import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../runtime/clock.ts';
import { BusyTenant, lostWrites } from '../contract/busy-tenant.ts';
import { allEntries, contentOf, manyPuts, text } from '../contract/data-content.ts';
import { RegisterClients } from '../contract/linearizability/register-clients.ts';
import { reportRegisters } from '../contract/linearizability/report-registers.ts';
import type { DataTenant, DataUnderTest } from '../contract/tenancy-data-contract.ts';
import type { StoredChange } from '../tenancy-data.ts';
import { migrate } from './migrate.ts';
import type { MigrationSummary } from './migration-journal.ts';
import { moving } from './moving-options.ts';
import { bumpRevision } from './bump-revision.ts';

const keys = 5000;

/** About 2 KB a key, as API servers write them, and some large ones. */
const filling: readonly StoredChange[] = [
  ...manyPuts(keys, 'pods/default/pod-', 'x'.repeat(2000)),
  ...Array.from({ length: 4 }, (_, index): StoredChange => {
    return { is: 'put', entry: { key: `configmaps/large-${index}`, value: Buffer.alloc(1 << 20, index) } };
  }),
  { is: 'put', entry: { key: 'events/an-hour', value: Buffer.from('x'), ttlMs: 3_600_000 } },
];

interface Pair extends AsyncDisposable {
  readonly source: DataTenant;
  readonly target: DataTenant;
}

/** Prints what a migration under writes came to. */
function print(
  way: string,
  { keys: count, bytes, fencedMs = Number.NaN, verified }: MigrationSummary,
  { seconds, rate, pauseMs }: { readonly seconds: number; readonly rate: number; readonly pauseMs: number },
): void {
  process.stderr.write(
    `migration ${way}: ${count} keys, ${(bytes / 2 ** 20).toFixed(1)} MiB in ${seconds.toFixed(1)} s under ${rate} writes/s, ` +
      `0 lost; fenced ${fencedMs} ms (${verified} compared), longest pause of a writer ${pauseMs} ms\n`,
  );
}

/** A real tenancy that moves between two real servers under writes. */
export function describeMigration(
  from: { readonly title: string; start(): Promise<DataUnderTest> },
  to: { readonly title: string; start(): Promise<DataUnderTest> },
): void {
  const title = `${from.title} → ${to.title}`;
  describe(`a migration ${title}`, () => {
    const stores: DataUnderTest[] = [];

    beforeAll(async () => {
      stores.push(await from.start(), await to.start());
    }, 180_000);
    afterAll(async () => {
      for (const store of stores) await store[Symbol.asyncDispose]();
    });

    const tenants = async (): Promise<Pair> => {
      const [left, right] = stores;
      if (left === undefined || right === undefined) throw new Error(`${title} was not started`);
      const [source, target] = [await left.tenant(), await right.tenant()];
      return {
        source,
        target,
        [Symbol.asyncDispose]: async () => {
          await target[Symbol.asyncDispose]();
          await source[Symbol.asyncDispose]();
        },
      };
    };

    test('loses no write of a writing tenant, in both directions', async () => {
      await using both = await tenants();
      const { source: here, target: there } = both;
      await using hands = new AsyncDisposableStack();
      const second = hands.use(await here.anotherHand());
      await here.data.beginWrites();
      await here.data.write(filling);
      await using tenant = new BusyTenant(here.hand);
      await using clients = new RegisterClients([here.hand, second], here, { name: 'moving' });
      for (const [source, target, way] of [
        [here, there, title],
        [there, here, `${to.title} → ${from.title}`],
      ] as const) {
        const before = tenant.writes;
        const begun = performance.now();
        const options = moving(source, target);
        const outcome = await migrate(options);
        const seconds = (performance.now() - begun) / 1000;
        expect(outcome).toMatchObject({ is: 'done' });
        if (outcome.is !== 'done') return;
        const writes = tenant.writes - before;
        const promised = tenant.promised();
        // A new API server, as after a switch: the one that is there already has seen how the target was written.
        const hand = hands.use(await target.anotherHand());
        tenant.moveTo(hand);
        const another = hands.use(await target.anotherHand());
        const { summary } = outcome;
        const [left, right] = [
          await contentOf(source.data),
          await contentOf(target.data, BigInt(summary.targetRevision)),
        ];
        // Not before: NATS forgets versions of keys that change often.
        clients.moveTo([hand, another], target);
        expect([...right]).toEqual([...left]);
        expect(lostWrites(promised, right)).toEqual([]);
        expect(BigInt(summary.targetRevision)).toBeGreaterThan(BigInt(summary.sourceRevision));
        expect(writes).toBeGreaterThan(100);
        const more = tenant.writes + 100;
        while (tenant.writes < more) await delay(50);
        print(way, summary, { seconds, rate: Math.round(writes / seconds), pauseMs: tenant.longestPauseMs() });
      }
      await clients.end();
      const end = await tenant.end();
      process.stderr.write(`  the tenant: ${JSON.stringify(end)}\n`);
      expect(end).toMatchObject({ failedReads: 0, staleReads: 0, revisionsFell: 0 });
      await clients.observe(() => contentOf(here.data));
      reportRegisters(`migration ${title} and back`, clients);
      expect(lostWrites(tenant.promised(), await contentOf(here.data))).toEqual([]);
    }, 300_000);

    test('preserves values, times to live and the source', async () => {
      await using both = await tenants();
      const { source, target } = both;
      await source.data.beginWrites();
      await source.data.write(filling);
      await source.hand.put('masterleases/192.0.2.1', Buffer.from('x'), 60);
      const outcome = await migrate(moving(source, target));
      expect(outcome).toMatchObject({ is: 'done', summary: { keys: filling.length } });
      const entries = await allEntries(target.data, await target.data.revision());
      expect(new Map(entries.map(({ key, value }) => [key, text(value)]))).toEqual(await contentOf(source.data));
      const lasting = entries.filter(({ ttlMs }) => ttlMs === undefined);
      expect(lasting).toHaveLength(filling.length - 1);
      const [event] = entries.filter(({ ttlMs }) => ttlMs !== undefined);
      expect(event?.ttlMs).toBeGreaterThan(3_000_000);
      expect(event?.ttlMs).toBeLessThanOrEqual(3_605_000);
      expect(await target.hand.get('masterleases/192.0.2.1')).toBeUndefined();
      await expect(source.hand.put('pods/late', Buffer.from('x'))).rejects.toBeDefined();
      await target.hand.put('pods/new', Buffer.from('x'));
    }, 300_000);

    test('pauses once when comparing takes long and the target is raised afterwards', async () => {
      await using both = await tenants();
      const { source, target } = both;
      await source.data.beginWrites();
      await source.data.write(manyPuts(2000, 'pods/default/pod-', 'x'.repeat(2000)));
      await using tenant = new BusyTenant(source.hand);
      const phases: string[] = [];
      const options = moving(source, target);
      const outcome = await migrate({
        ...options,
        // A clock that makes any comparison a long one.
        clock: { ...systemClock, monotonic: () => systemClock.monotonic() * 100 },
        longestFenceMs: 3_000_000,
        freeze: { request: () => delay(1000), release: () => Promise.resolve() },
        report: ({ phase }) => phases.at(-1) !== phase && phases.push(phase),
      });
      await using hand = await target.anotherHand();
      tenant.moveTo(hand);
      expect(outcome).toMatchObject({ is: 'done', summary: { verified: 'changes' } });
      expect(phases.slice(-4)).toEqual(['Following', 'WaitingForReadOnly', 'Finishing', 'Done']);
      expect(phases.filter((phase) => phase === 'Finishing')).toHaveLength(1);
      await tenant.end();
    }, 300_000);

    test('raises the source above its target when it is reverted after the target was used', async () => {
      await using both = await tenants();
      const { source, target } = both;
      await source.data.beginWrites();
      await source.data.write(manyPuts(10, 'pods/pod-'));
      expect(await migrate(moving(source, target))).toMatchObject({ is: 'done' });
      await target.hand.put('pods/served', Buffer.from('x'));
      await bumpRevision(source.data, target.data);
      await expect(target.hand.put('pods/late', Buffer.from('x'))).rejects.toBeDefined();
      await source.data.unfence();
      await using hand = await source.anotherHand();
      await hand.put('pods/after', Buffer.from('x'));
      expect(await source.data.revision()).toBeGreaterThan(await target.data.revision());
    }, 300_000);

    test('allows writes to the source again and empties the target when it is canceled', async () => {
      await using both = await tenants();
      const { source, target } = both;
      await source.data.beginWrites();
      await source.data.write(manyPuts(1500, 'pods/pod-'));
      const before = await contentOf(source.data);
      const cancel = new AbortController();
      const options = moving(source, target);
      const freeze = {
        ...options.freeze,
        request: () => {
          cancel.abort(new Error('changed my mind'));
          return Promise.resolve();
        },
      };
      const outcome = await migrate({ ...options, freeze, cancel: cancel.signal });
      expect(outcome).toEqual({ is: 'rolled-back', reason: 'changed my mind' });
      expect(await target.data.count()).toBe(0);
      expect(await contentOf(source.data)).toEqual(before);
      await source.hand.put('pods/new', Buffer.from('x'));
    }, 300_000);
  });
}
