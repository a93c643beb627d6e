import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BackedUpTenancy } from '../../testing/worlds/backed-up-tenancy.ts';
import { put } from '../../testing/builders/put.ts';
import { StoreError } from '../store-error.ts';
import { RepositoryError } from './backup-repository.ts';
import { readBackups } from './kept-backups.ts';
import { pruneBackups } from './prune-backups.ts';

describe('a backup', () => {
  test('is restored into an empty tenancy, whose revisions continue above those of the source', async () => {
    const world = new BackedUpTenancy();
    const { record } = await world.take();
    expect(record).toMatchObject({ keys: 10, objects: [{ kind: 'Secret' }], run: 'run' });
    const restored = await world.restore();
    expect(restored).toMatchObject({ backup: record.at, upTo: record.at, keys: 10, changes: 0 });
    expect(world.target.texts()).toEqual(world.source.texts());
    expect(world.target.fenced).toBe(false);
    const lowest = world.target.log.map(({ revision }) => revision).sort()[0];
    expect(lowest).toBeGreaterThan(world.source.revision + 10_000n);
  });

  test('raises no revision of the datastore that it was taken of, unless that has lost some', async () => {
    const world = new BackedUpTenancy();
    await world.take();
    world.target.revision = world.source.revision;
    await world.restore(undefined, { store: 'first' });
    expect(world.target.revision).toBeLessThan(1000n);
    const other = new BackedUpTenancy();
    await other.take();
    other.target.revision = other.source.revision - 1n;
    await other.restore(undefined, { store: 'first' });
    expect(other.target.revision).toBeGreaterThan(other.source.revision + 10_000n);
  });

  test('replaces what the tenancy holds, and removes what was made after the moment', async () => {
    const world = new BackedUpTenancy();
    await world.take();
    world.target.tenantWrites(put('pods/3', 'other'), put('pods/later', 'x'));
    await world.restore();
    expect(world.target.texts()).toEqual(world.source.texts());
  });

  test('leaves a tenancy with greater revisions at its own', async () => {
    const world = new BackedUpTenancy();
    await world.take();
    world.target.revision = 10_000_000n;
    await world.restore();
    expect(world.target.revision).toBeLessThan(10_001_000n);
  });

  test('restores an empty control plane', async () => {
    const world = new BackedUpTenancy();
    for (let index = 0; index < 10; index += 1) world.write(`pods/${index}`, undefined);
    await world.take();
    world.target.tenantWrites(put('pods/other', 'x'));
    expect(await world.restore()).toMatchObject({ keys: 0 });
    expect(world.target.texts()).toEqual([]);
  });

  test('writes only chunks that are not in the repository yet', async () => {
    const world = new BackedUpTenancy();
    expect((await world.take()).newChunks).toBeGreaterThan(0);
    await world.clock.advance(1000);
    expect((await world.take()).newChunks).toBe(0);
    world.write('pods/3', 'changed');
    await world.clock.advance(1000);
    expect((await world.take()).newChunks).toBe(1);
  });

  test('is not disturbed by expiring keys that count down', async () => {
    const world = new BackedUpTenancy();
    world.source.tenantWrites({ is: 'put', entry: { key: 'events/1', value: Buffer.from('x'), ttlMs: 3_599_000 } });
    await world.take();
    world.source.tenantWrites({ is: 'put', entry: { key: 'events/1', value: Buffer.from('x'), ttlMs: 3_575_000 } });
    await world.clock.advance(1000);
    expect((await world.take()).newChunks).toBe(0);
    await world.restore();
    expect(world.target.content().get('events/1')?.ttlMs).toBe(3_600_000);
  });

  test('begins again when the datastore forgets its revision, and fails when that happens each time', async () => {
    const world = new BackedUpTenancy();
    let left = 2;
    world.source.before = (call) => {
      if (call !== 'pages' || left === 0) return;
      left -= 1;
      world.write('pods/0', `changed ${left}`);
      world.source.compacted = world.source.revision;
    };
    await world.take();
    await world.restore();
    expect(world.target.texts()).toEqual(world.source.texts());
    left = 3;
    await expect(world.take()).rejects.toThrow('compacted');
  });

  test('does not exist when its process dies before any write, and the next one is complete', async () => {
    for (let call = 1; ; call += 1) {
      const world = new BackedUpTenancy();
      let calls = 0;
      world.repository.before = () => {
        calls += 1;
        if (calls === call) throw new RepositoryError('died');
      };
      const died = await world.take().then(
        () => false,
        () => true,
      );
      if (!died) break;
      expect(await readBackups(world.folder)).toEqual([]);
      await world.take();
      await world.restore();
      expect(world.target.texts()).toEqual(world.source.texts());
    }
  });
});

describe('following changes', () => {
  test('has every change in the repository within six seconds', async () => {
    const world = new BackedUpTenancy();
    world.follow(await world.take());
    for (let second = 0; second < 30; second += 1) {
      world.write(`pods/${second % 7}`, `second ${second}`);
      world.write(`pods/new-${second}`, 'x');
      if (second % 3 === 0) world.write(`pods/${second % 10}`, undefined);
      await world.clock.advance(1000);
    }
    const before = world.source.texts();
    await world.clock.advance(6000);
    // The process is killed here: it writes nothing more.
    const restored = await world.restore();
    expect(restored.changes).toBeGreaterThan(30);
    expect(world.target.texts()).toEqual(before);
    await world.stopFollowing();
  });

  test('writes what it has read when it is stopped', async () => {
    const world = new BackedUpTenancy();
    world.follow(await world.take());
    world.write('pods/late', 'x');
    await world.clock.advance(1000);
    expect(await world.stopFollowing()).toBe(world.source.revision);
    await world.restore();
    expect(world.target.texts()).toEqual(world.source.texts());
  });

  test('writes nothing while nothing changes', async () => {
    const world = new BackedUpTenancy();
    world.follow(await world.take());
    const files = world.repository.files.size;
    await world.clock.advance(60_000);
    expect(world.repository.files.size).toBe(files);
    await world.stopFollowing();
  });

  test('is complete although other tenants make revisions of the same datastore in between', async () => {
    const world = new BackedUpTenancy();
    world.follow(await world.take());
    for (let second = 0; second < 20; second += 1) {
      if (second % 6 === 0) world.write('pods/a', `at ${second}`);
      else world.source.revision += 2n;
      await world.clock.advance(1000);
    }
    await world.stopFollowing();
    expect((await world.restore()).changes).toBe(4);
    expect(world.target.texts()).toEqual(world.source.texts());
  });

  test('reads once a second, and knows up to when all is saved, also where there is always something to read', async () => {
    const world = new BackedUpTenancy();
    const reached: number[] = [];
    world.follow(await world.take(), (moment) => reached.push(moment.getTime()));
    let reads = 0;
    world.source.before = (call) => {
      if (reads > 500) return;
      if (call === 'changes') reads += 1;
      world.write('pods/busy', `before ${call} ${reads}`);
    };
    const begun = world.clock.now().getTime();
    for (let second = 0; second < 20; second += 1) await world.clock.advance(1000);
    expect(reads).toBeLessThanOrEqual(42);
    expect(reads).toBeGreaterThan(15);
    expect((reached.at(-1) ?? 0) - begun).toBeGreaterThanOrEqual(15_000);
    world.source.before = () => undefined;
    await world.stopFollowing();
    await world.restore();
    expect(world.target.texts()).toEqual(world.source.texts());
  });

  test('ends with an error when changes were forgotten before they were read', async () => {
    const world = new BackedUpTenancy();
    const taken = await world.take();
    world.write('pods/1', 'a');
    world.write('pods/1', 'b');
    world.source.compacted = world.source.revision;
    world.follow(taken);
    await expect(world.stopFollowing()).rejects.toThrow('compacted');
  });

  test('restores any whole second exactly, whatever happened and however many backups there are', async () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 5 }),
      value: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
      ms: fc.integer({ min: 0, max: 2500 }),
      backup: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 25 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 999 }),
        async (steps, part, begins) => {
          const world = new BackedUpTenancy();
          await world.clock.advance(begins);
          world.follow(await world.take());
          const begun = 1000 * Math.ceil(world.clock.now().getTime() / 1000);
          for (const { key, value, ms, backup } of steps) {
            await world.clock.advance(ms);
            world.write(`pods/${key}`, value);
            await world.clock.advance(1);
            if (backup) await world.take();
          }
          await world.clock.advance(2000);
          await world.stopFollowing();
          const end = world.clock.now().getTime();
          const moment = begun + Math.floor((part * (end - begun)) / 1000) * 1000;
          /** What there was from one time to another; what is written at the very first may be there or not. */
          const between = (from: number, to: number): readonly unknown[] => {
            const since = world.history.filter(({ at }) => at >= from && at <= to);
            return [world.textsAt(from - 1), ...since.map(({ texts }) => texts)];
          };
          await world.restore(new Date(moment));
          expect(between(moment, moment)).toContainEqual(world.target.texts());
          // At any other moment, nothing later is there, and all from before its second.
          const within = moment + Math.floor(part * 999);
          await world.restore(new Date(within));
          expect(between(moment, within)).toContainEqual(world.target.texts());
          await world.restore();
          expect(world.target.texts()).toEqual(world.source.texts());
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a restore', () => {
  test('may die before any write to the tenancy, which stays fenced until another one has succeeded', async () => {
    for (let call = 1; ; call += 1) {
      const world = new BackedUpTenancy();
      world.follow(await world.take());
      world.write('pods/1', 'changed');
      await world.clock.advance(1000);
      await world.stopFollowing();
      let calls = 0;
      world.target.before = () => {
        calls += 1;
        if (calls === call) throw new Error('died');
      };
      const died = await world.restore().then(
        () => false,
        () => true,
      );
      if (!died) break;
      if (call > 1) expect(world.target.fenced).toBe(true);
      world.target.before = () => undefined;
      await world.restore();
      expect(world.target.texts()).toEqual(world.source.texts());
      expect(world.target.fenced).toBe(false);
    }
  });

  test('is not undone by a batch of an attempt before that was never answered, and arrives when the tenant writes again', async () => {
    const world = new BackedUpTenancy();
    world.follow(await world.take());
    world.write('pods/1', 'changed');
    await world.clock.advance(1000);
    await world.stopFollowing();
    const first = world.target.open();
    await first.beginWrites();
    await world.restore();
    world.target.tenantWrites(put('pods/1', 'by the tenant'));
    const before = world.target.texts();
    await expect(first.write([put('pods/1', 'late'), put('pods/late', 'late')])).rejects.toBeInstanceOf(StoreError);
    expect(world.target.texts()).toEqual(before);
  });

  test('ends its own writes before the tenant may write', async () => {
    const world = new BackedUpTenancy();
    await world.take();
    const calls: string[] = [];
    world.target.before = (call) => {
      calls.push(call);
    };
    await world.restore();
    const order = ['fence', 'beginWrites', 'write', 'endWrites', 'unfence'];
    expect(calls.filter((call, at) => order.includes(call) && call !== calls[at - 1])).toEqual(order);
    expect(calls.lastIndexOf('pages')).toBeGreaterThan(calls.indexOf('endWrites'));
  });

  test('names the oldest backup when the moment is before it', async () => {
    const world = new BackedUpTenancy();
    await expect(world.restore()).rejects.toThrow('there is no backup');
    await world.take();
    await expect(world.restore(new Date('2020-01-01'))).rejects.toThrow('the oldest backup is of 2030-01-01');
  });

  test('fails, and leaves the tenancy fenced, when a file is missing or was changed', async () => {
    const world = new BackedUpTenancy();
    const taken = await world.take();
    world.follow(taken);
    for (const value of ['a', 'b']) {
      world.write('pods/1', value);
      await world.clock.advance(10_000);
    }
    await world.stopFollowing();
    const names = [...world.repository.files.keys()];
    const gaps = names.filter((name) => name.includes('/changes/'));
    expect(gaps).toHaveLength(2);
    for (const name of [gaps[0] ?? '', names.find((one) => one.includes('/chunks/')) ?? '']) {
      const content = world.repository.files.get(name) ?? Buffer.of();
      world.repository.files.delete(name);
      await expect(world.restore()).rejects.toThrow('missing');
      const changed = Buffer.from(content);
      changed[30] = (changed[30] ?? 0) ^ 1;
      world.repository.files.set(name, changed);
      await expect(world.restore()).rejects.toThrow('the file was changed');
      world.repository.files.set(name, content);
      expect(world.target.fenced).toBe(true);
    }
    await world.restore();
    expect(world.target.texts()).toEqual(world.source.texts());
  });

  test('fails when the tenancy does not hold what was written', async () => {
    const world = new BackedUpTenancy();
    await world.take();
    world.target.after = (call) => {
      if (call === 'write') world.target.log.pop();
    };
    await expect(world.restore()).rejects.toThrow('differ from the backup after the restore, such as pods/');
    expect(world.target.fenced).toBe(true);
  });
});

describe('pruning', () => {
  test('keeps the newest backups with what they need, and any moment since the oldest of them', async () => {
    const world = new BackedUpTenancy();
    world.follow(await world.take());
    for (let hour = 0; hour < 6; hour += 1) {
      await world.clock.advance(2000);
      world.write('pods/1', `hour ${hour}`);
      world.write(`pods/of-${hour}`, 'x');
      await world.clock.advance(3_598_000);
      await world.take();
    }
    await world.stopFollowing();
    expect(await pruneBackups(world.folder, 2)).toEqual({ removed: 5 });
    const [oldest] = await readBackups(world.folder);
    const begun = Date.parse(oldest?.at ?? '');
    for (const after of [0, 10_000, 3_599_000, 3_610_000]) {
      await world.restore(new Date(begun + after));
      expect(world.target.texts()).toEqual(world.textsAt(begun + after));
    }
    expect((await world.folder.list('changes/')).length).toBeLessThanOrEqual(2);
    const files = world.repository.files.size;
    await pruneBackups(world.folder, 2);
    expect(world.repository.files.size).toBe(files);
  });

  test('may die anywhere: what a kept backup needs is there', async () => {
    for (let call = 1; ; call += 1) {
      const world = new BackedUpTenancy();
      await world.take('first');
      world.write('pods/1', 'changed');
      await world.clock.advance(1000);
      await world.take('second');
      let calls = 0;
      world.repository.before = () => {
        calls += 1;
        if (calls === call) throw new RepositoryError('died');
      };
      const died = await pruneBackups(world.folder, 1).then(
        () => false,
        () => true,
      );
      await world.restore();
      expect(world.target.texts()).toEqual(world.source.texts());
      if (!died) break;
    }
  });

  test('never removes the last backup', async () => {
    const world = new BackedUpTenancy();
    await world.take();
    expect(await pruneBackups(world.folder, 0)).toEqual({ removed: 0 });
    await world.restore();
  });
});
