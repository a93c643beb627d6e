import { describe, expect, test } from '@jest/globals';
import { sleep } from '../../runtime/clock.ts';
import { detached } from '../../runtime/detached.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { put } from '../../testing/builders/put.ts';
import { MovingTenancy } from '../../testing/worlds/moving-tenancy.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { MigrationOptions } from './migration.ts';
import type { MigrationRecord } from './migration-journal.ts';

describe('migrate', () => {
  test('copies everything in its phases, and leaves the source fenced and complete', async () => {
    const world = new MovingTenancy();
    const before = world.source.texts();
    const outcome = await world.run();
    world.expectDone(outcome);
    expect(world.source.texts()).toEqual(before);
    expect(world.phases).toEqual(['Preparing', 'Copying', 'Following', 'WaitingForReadOnly', 'Finishing', 'Done']);
    expect(outcome).toMatchObject({ summary: { keys: 10, verified: 'everything', fencedMs: 0 } });
    expect(await world.run()).toEqual(outcome);
  });

  test('loses no write of a writing tenant, and gives every key a revision above the previous one', async () => {
    const world = new MovingTenancy();
    world.tenantIsBusy();
    const tenant = world.source.before;
    let isCopied = false;
    world.source.before = (call) => {
      detached(Promise.resolve(tenant(call)), silent, 'the tenant');
      // Other tenants of the store write, too, and more than any lead foresees.
      if (call === 'changes' && !isCopied) world.source.revision *= 1000n;
    };
    world.target.before = (call) => {
      isCopied ||= call === 'endWrites';
    };
    world.expectDone(await world.run());
    for (const { revision, change } of world.target.log) {
      if (change.is === 'deleted') continue;
      const origin = world.source.log.find((one) => one.change.is === 'put' && one.change.entry === change.entry);
      expect(revision).toBeGreaterThan(origin?.revision ?? revision);
    }
  });

  test('replaces existing content of the target', async () => {
    const world = new MovingTenancy();
    world.target.tenantWrites(put('pods/1', 'stale'), put('pods/stale', 'x'), put('zz', 'x'));
    world.target.fenced = true;
    world.expectDone(await world.run());
  });

  test.each([1, 2, 3, 4])(
    'is not undone by a batch (number %i) that was never answered, repeated, and arrives when the tenant writes to the target',
    async (number) => {
      const world = new MovingTenancy();
      world.tenantIsBusy();
      let batches = 0;
      let late: () => Promise<void> = () => Promise.reject(new Error('there were not so many batches'));
      const unanswered = (): Promise<TenancyData> => {
        const data = world.target.open();
        const write: TenancyData['write'] = (changes) => {
          batches += 1;
          if (batches !== number) return data.write(changes);
          late = () => data.write(changes);
          return Promise.reject(new StoreError('Unreachable', 'no answer within 10 s'));
        };
        return Promise.resolve({ ...data, write });
      };
      world.expectDone(await world.run({ target: unanswered }));
      const keys = world.target.texts().map(([key]) => key);
      world.target.tenantWrites(...keys.map((key) => put(key, 'by the tenant')), { is: 'deleted', key: 'pods/1' });
      const before = world.target.texts();
      await expect(late()).rejects.toBeInstanceOf(StoreError);
      expect(world.target.texts()).toEqual(before);
    },
  );

  test('does not begin to write again when another process has taken over', async () => {
    const world = new MovingTenancy();
    const { journal } = world.options();
    let isReplaced = false;
    let begun = 0;
    world.target.before = (call) => {
      if (call === 'beginWrites') begun += 1;
      if (call !== 'write') return;
      isReplaced = true;
      throw new StoreError('Unreachable', 'no answer within 10 s');
    };
    const write: typeof journal.write = (record) =>
      isReplaced ? Promise.reject(new Error('another process has written')) : journal.write(record);
    await expect(world.run({ journal: { ...journal, write } })).rejects.toThrow('another process has written');
    expect(begun).toBe(1);
  });

  test('copies what was written because the source was opened again by a request of before', async () => {
    const world = new MovingTenancy();
    let isLate = true;
    world.target.before = (call) => {
      if (call !== 'endWrites' || !isLate) return;
      isLate = false;
      world.source.fenced = false;
      world.source.tenantWrites(put('pods/1', 'behind the fence'));
    };
    world.expectDone(await world.run());
    expect(world.reports.map(({ problem }) => problem)).toContainEqual(
      expect.stringContaining('the source was written to'),
    );
  });

  test('does not open a target whose revision is not above that of the source', async () => {
    const world = new MovingTenancy();
    world.target.after = (call) => {
      if (call === 'unfence') world.target.revision = world.source.revision;
    };
    const outcome = await world.run();
    expect(outcome.is).toBe('rolled-back');
    expect(world.source.fenced).toBe(false);
    expect(world.reports.map(({ problem }) => problem)).toContainEqual(
      expect.stringMatching(/^the target is at revision (\d+), not above revision \1 of the source/),
    );
  });

  test('copies existing changes before the tenant becomes read-only, so that this adds no pause', async () => {
    const world = new MovingTenancy();
    let copiedBehindFence = 0;
    world.target.before = async (call) => {
      if (call !== 'write') return;
      if (world.source.fenced) copiedBehindFence += 1;
      // Each page takes longer than what counts as near.
      await world.clock.advance(400);
    };
    const request = (): Promise<void> => {
      world.source.tenantWrites(...Array.from({ length: 30 }, (_, at) => put(`events/${at}`, 'late')));
      return Promise.resolve();
    };
    world.expectDone(await world.run({ freeze: { request, release: () => Promise.resolve() } }));
    expect(copiedBehindFence).toBe(0);
  });

  test('follows the tenant while it waits for read-only mode, as long as that takes', async () => {
    const world = new MovingTenancy();
    let seconds = 0;
    const waiting = world.run({
      freeze: {
        request: async () => {
          for (; seconds < 3; seconds += 1) await sleep(world.clock, 1000);
        },
        release: () => Promise.resolve(),
      },
    });
    world.tenantIsBusy();
    world.expectDone(await waiting);
    expect(seconds).toBe(3);
  });

  describe('migrate into a datastore that compacts when it is raised, from one that grows', () => {
    /** Comparing takes four seconds, the freeze fifteen; meanwhile forty revisions a second are made. */
    function growing(): { readonly world: MovingTenancy; readonly over: Partial<MigrationOptions> } {
      const world = new MovingTenancy();
      world.target.compactsOnRaise = true;
      let grownMs = 0;
      world.source.before = async (call) => {
        if (call === 'pages' && world.phases.at(-1) === 'Following') await world.clock.advance(1000);
        if (call === 'fence') await world.clock.advance(1000);
        if (world.source.fenced) return;
        for (; grownMs < world.clock.monotonic(); grownMs += 25)
          world.source.tenantWrites(put('leases/a', `${grownMs}`));
      };
      const request = async (): Promise<void> => sleep(world.clock, 15_000);
      return { world, over: { freeze: { request, release: () => Promise.resolve() } } };
    }

    test('raises again after the comparison without a second pause', async () => {
      const { world, over } = growing();
      const outcome = await world.run(over);
      world.expectDone(outcome);
      expect(outcome).toMatchObject({ summary: { verified: 'changes' } });
      const phases = world.phases.filter((phase, index) => phase !== world.phases[index - 1]);
      expect(phases).toEqual(['Preparing', 'Copying', 'Following', 'WaitingForReadOnly', 'Finishing', 'Done']);
    });

    test('still finds a key that was corrupted before a raise', async () => {
      const { world, over } = growing();
      let spoiled = 0;
      world.target.before = (call) => {
        if (call !== 'write' || world.phases.at(-1) !== 'WaitingForReadOnly' || spoiled > 0) return;
        spoiled += 1;
        world.target.tenantWrites(put('pods/1', 'spoiled'));
      };
      world.expectDone(await world.run(over));
      expect(spoiled).toBe(1);
      expect(world.reports.map(({ problem }) => problem).filter((problem) => problem !== undefined)).toEqual([
        expect.stringContaining('differ in 1 keys, such as pods/1'),
      ]);
    });
  });

  test('starts again without losing what was copied when the changes were compacted', async () => {
    const world = new MovingTenancy();
    let compactions = 2;
    world.source.before = (call) => {
      if (call !== 'changes' || compactions === 0) return;
      compactions -= 1;
      world.source.tenantWrites(put('pods/new', String(compactions)), { is: 'deleted', key: `pods/${compactions}` });
      world.source.compacted = world.source.revision;
    };
    world.expectDone(await world.run());
    expect(world.phases.filter((phase) => phase === 'Copying')).toHaveLength(3);
    const writes = world.target.log.filter(({ change }) => change.is === 'put' && change.entry.key === 'pods/5');
    expect(writes).toHaveLength(1);
  });

  test('rolls back with a reason when the source compacts its changes repeatedly', async () => {
    const world = new MovingTenancy();
    world.source.before = (call) => {
      if (call !== 'changes') return;
      world.source.tenantWrites(put('pods/new', String(world.source.revision)));
      world.source.compacted = world.source.revision;
    };
    world.expectRolledBack(await world.run(), /were compacted, for the 6th time: retain the history of the datastores/);
    expect(world.phases.filter((phase) => phase === 'Copying')).toHaveLength(6);
    expect(world.clock.monotonic()).toBeGreaterThanOrEqual(31_000);
  });

  test('reports the progress of raising the target, which takes a while in some datastores', async () => {
    const world = new MovingTenancy();
    world.target.before = async (call) => {
      if (call === 'raise') await world.clock.advance(1000);
    };
    world.expectDone(await world.run());
    const raised = world.reports.filter(({ phase }) => phase === 'Preparing').map((report) => report.raised);
    // What is wanted is above the source's revision, which is 11.
    expect(raised).toContainEqual({ reached: '1011', wanted: '1011' });
  });

  test('stops raising the target when it is canceled', async () => {
    const world = new MovingTenancy();
    world.target.before = (call) => {
      if (call === 'raise') world.cancel.abort(new Error('changed my mind'));
    };
    world.expectRolledBack(await world.run(), /changed my mind/);
    expect(world.phases).toEqual(['Preparing', 'RollingBack', 'RolledBack']);
  });

  test('waits for a datastore that does not answer, and reports that', async () => {
    const world = new MovingTenancy();
    let outage = 12;
    world.target.before = () => {
      outage -= 1;
      if (outage > 0) throw new StoreError('Unreachable', 'the target does not answer');
    };
    world.expectDone(await world.run());
    expect(world.reports.map(({ problem }) => problem)).toContain('the target does not answer');
    expect(world.reports.at(-1)).toMatchObject({ phase: 'Done', keys: 10, remainingKeys: 0 });
    expect(world.reports.at(-1)?.problem).toBeUndefined();
  });

  test('rolls back if the target refuses permanently', async () => {
    const world = new MovingTenancy();
    world.target.before = (call) => {
      if (call === 'write' && world.phases.at(-1) === 'Copying') throw new StoreError('Failed', 'too large');
    };
    world.expectRolledBack(await world.run(), /too large \(tried 5 times\)/);
    expect(world.handshake).toEqual(['release']);
  });

  test('rolls back at once if the tenancy has another owner', async () => {
    const world = new MovingTenancy();
    const foreign = (): Promise<never> => Promise.reject(new StoreError('OwnedByAnother', 'owned by another'));
    world.target.before = () => foreign();
    expect(await world.run()).toMatchObject({
      is: 'rolled-back',
      reason: expect.stringMatching(/owned by another; the copy in the target could not be deleted/),
    });
  });

  test('allows writes again if the last step takes too long, tries three times, and rolls back', async () => {
    const world = new MovingTenancy();
    const fenced: boolean[] = [];
    world.source.after = async (call) => {
      if (call === 'fence') await world.clock.advance(40_000);
      if (call === 'unfence') fenced.push(world.source.fenced);
    };
    const outcome = await world.run();
    world.expectRolledBack(outcome, /read-only for more than 30000 ms/);
    expect(world.phases.filter((phase) => phase === 'Finishing')).toHaveLength(3);
    expect(world.handshake).toEqual(['request', 'release', 'request', 'release', 'request', 'release']);
    expect(fenced.length).toBeGreaterThanOrEqual(3);
  });

  test('compares everything again after a difference, and rolls back after the second one', async () => {
    const world = new MovingTenancy();
    let spoiled = false;
    world.target.after = (call) => {
      if (call !== 'write' || spoiled) return;
      spoiled = true;
      world.target.log.push({ revision: world.target.revision, change: put('pods/1', 'spoiled') });
    };
    world.expectDone(await world.run());
    const broken = new MovingTenancy();
    broken.target.after = (call) => {
      if (call === 'write' && !broken.phases.includes('RollingBack'))
        broken.target.log.push({ revision: broken.target.revision, change: put('pods/1', 'spoiled') });
    };
    broken.expectRolledBack(await broken.run(), /differ in 1 keys, such as pods\/1/);
  });

  test.each(['Preparing', 'Copying', 'Following', 'WaitingForReadOnly', 'Finishing'])(
    'rolls back when it is canceled in %s',
    async (phase) => {
      const world = new MovingTenancy();
      world.tenantIsBusy();
      const busy = world.source.before;
      world.source.before = (call) => {
        detached(Promise.resolve(busy(call)), silent, 'the tenant');
        if (world.phases.at(-1) === phase) world.cancel.abort(new Error('changed my mind'));
      };
      world.expectRolledBack(await world.run(), /changed my mind/);
      expect(world.phases.slice(-2)).toEqual(['RollingBack', 'RolledBack']);
    },
  );

  test('rolls back when it is canceled while the tenant does not become read-only', async () => {
    const world = new MovingTenancy();
    world.frozen = false;
    world.clock.after(60_000, () => {
      world.cancel.abort(new Error('changed my mind'));
    });
    world.expectRolledBack(await world.run(), /changed my mind/);
    expect(world.phases).not.toContain('Finishing');
    expect(world.records.filter(({ phase }) => phase === 'WaitingForReadOnly').length).toBeLessThan(10);
  });

  test('stops when the process ends, and another one continues', async () => {
    const world = new MovingTenancy();
    world.target.after = (call) => {
      if (call === 'write') world.stop.abort(new Error('the process ends'));
    };
    await expect(world.run()).rejects.toThrow('the process ends');
    world.target.after = () => undefined;
    world.expectDone(await world.run({ signal: new AbortController().signal }));
  });

  test('finishes a last step that has begun although the process ends', async () => {
    const world = new MovingTenancy();
    world.source.before = (call) => {
      if (call === 'fence') world.stop.abort(new Error('the process ends'));
    };
    world.expectDone(await world.run());
  });

  test('allows writes again if an earlier process died between a failed last step and doing so', async () => {
    const world = new MovingTenancy();
    world.records.push({ phase: 'Following', tries: 1, revision: '1' });
    world.source.fenced = true;
    const fenced: boolean[] = [];
    world.source.before = (call) => {
      if (call === 'changes' && world.phases.at(-1) === 'Following') fenced.push(world.source.fenced);
    };
    world.expectDone(await world.run());
    expect(new Set(fenced)).toEqual(new Set([false]));
    // Read-only mode, which it may have left behind as well, ends before it is requested again.
    expect(world.handshake).toEqual(['release', 'request']);
  });

  test('keeps the source fenced if it is not known whether the journal says Done', async () => {
    const world = new MovingTenancy();
    const { journal } = world.options();
    const write = async (record: MigrationRecord): Promise<void> => {
      await journal.write(record);
      if (record.phase === 'Done') throw new Error('no answer');
    };
    await expect(world.run({ journal: { ...journal, write } })).rejects.toThrow('no answer');
    expect(world.source.fenced).toBe(true);
    world.expectDone(await world.run());
  });

  test('rolls back if its processes die in the last step repeatedly', async () => {
    const world = new MovingTenancy();
    const dying = (): never => {
      throw new RangeError('out of memory');
    };
    const { journal } = world.options();
    for (let life = 0; life < 3; life += 1) {
      let dead = false;
      world.source.after = (call) => {
        if (call === 'fence') dead = true;
        if (dead) dying();
      };
      const mortal = {
        read: () => journal.read(),
        write: (record: MigrationRecord) => (dead ? dying() : journal.write(record)),
      };
      await expect(world.run({ journal: mortal })).rejects.toThrow('out of memory');
      expect(world.phases.at(-1)).toBe('Finishing');
    }
    world.source.after = () => undefined;
    world.expectRolledBack(await world.run(), /the last step started 3 times and never finished/);
  });

  test('throws unknown errors without leaving a fence behind', async () => {
    const world = new MovingTenancy();
    world.target.before = (call) => {
      if (call === 'unfence') throw new TypeError('a mistake');
    };
    await expect(world.run()).rejects.toThrow('a mistake');
    expect(world.source.fenced).toBe(false);
    expect(world.phases.at(-1)).toBe('Following');
  });
});
