import { describe, expect, test } from '@jest/globals';
import { raiseRevision } from './bump-revision.ts';

const key = Buffer.from('k');

/** An etcd that grows with each write. */
function setUp(bytesOfWrite = 100, failAt = Infinity) {
  const said = { revision: 10n, size: 0, deleted: 0, writes: 0 };
  const etcd = {
    data: {
      touch: async () => {
        await new Promise(setImmediate);
        said.writes += 1;
        if (said.writes === failAt) throw new Error('lost');
        said.size += bytesOfWrite;
        said.revision += 1n;
        return said.revision;
      },
      write: () => {
        said.deleted += 1;
        return Promise.resolve();
      },
    },
    size: () => Promise.resolve(said.size),
  };
  return { said, etcd };
}

describe('bumpRevision', () => {
  test('writes until the revision is reached, reports progress, and cleans up', async () => {
    const { said, etcd } = setUp();
    const told: bigint[] = [];
    await raiseRevision(etcd, key, { from: 10n, wanted: 5010n }, (reached) => told.push(reached));
    expect(said.revision).toBeGreaterThanOrEqual(5010n);
    expect(said.revision).toBeLessThan(5010n + 128n);
    expect(told).toHaveLength(3);
    expect(told.at(-1)).toBeGreaterThanOrEqual(5010n);
    expect(said.deleted).toBe(1);
  });

  test('writes nothing when the revision is reached already', async () => {
    const { said, etcd } = setUp();
    await raiseRevision(etcd, key, { from: 10n, wanted: 10n });
    expect(said.writes).toBe(0);
  });

  test('refuses to write for too long, and stops before etcd is full', async () => {
    await expect(raiseRevision(setUp().etcd, key, { from: 10n, wanted: 20_000_000n })).rejects.toMatchObject({
      reason: 'Unsupported',
    });
    const { said, etcd } = setUp(1024 * 1024);
    await expect(raiseRevision(etcd, key, { from: 10n, wanted: 1_000_000n })).rejects.toThrow(/grew by \d+ MiB/);
    expect(said.writes).toBeLessThan(3000);
  });

  test('ends soon when the callback throws, without running writes or leftovers', async () => {
    const { said, etcd } = setUp();
    const unwanted = new Error('not wanted anymore');
    const told: bigint[] = [];
    const raising = raiseRevision(etcd, key, { from: 10n, wanted: 1_000_000n }, (reached) => {
      told.push(reached);
      if (reached > 5000n) throw unwanted;
    });
    await expect(raising).rejects.toBe(unwanted);
    const { writes } = said;
    expect([told.length, said.deleted]).toEqual([3, 1]);
    expect(writes).toBeLessThan(6000 + 128);
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect(said.writes).toBe(writes);
  });

  test('stops all writes when one fails', async () => {
    const { said, etcd } = setUp(100, 500);
    await expect(raiseRevision(etcd, key, { from: 10n, wanted: 100_000n })).rejects.toThrow('lost');
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    expect(said.writes).toBeLessThan(800);
  });
});
