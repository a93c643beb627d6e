import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { withFileLock } from './file-lock.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('withFileLock', () => {
  test('runs one at a time and releases the lock after a failure', async () => {
    const path = join(folder, 'locks', 'one');
    let working = 0;
    const work = async (): Promise<number> => {
      working += 1;
      const seen = working;
      await new Promise(setImmediate);
      working -= 1;
      return seen;
    };
    const failing = withFileLock(path, () => Promise.reject(new Error('broke')));
    await expect(failing).rejects.toThrow('broke');
    expect(await Promise.all([1, 2, 3].map(() => withFileLock(path, work)))).toEqual([1, 1, 1]);
    expect(existsSync(path)).toBe(false);
  });

  test('acquires the lock of a process that is gone', async () => {
    const { pid } = spawnSync('true');
    const path = join(folder, 'abandoned');
    await writeFile(path, `${pid} 1`);
    expect(await withFileLock(path, () => Promise.resolve('mine'))).toBe('mine');
  });

  test('acquires the lock of an earlier process whose id is in use again', async () => {
    const path = join(folder, 'reused');
    await writeFile(path, `${process.ppid} 1`);
    expect(await withFileLock(path, () => Promise.resolve('mine'))).toBe('mine');
  });

  test('reports once which process it waits for', async () => {
    const path = join(folder, 'told');
    const told: number[] = [];
    const held = Promise.withResolvers<undefined>();
    const released = Promise.withResolvers<undefined>();
    const first = withFileLock(path, () => {
      held.resolve(undefined);
      return released.promise;
    });
    await held.promise;
    const second = withFileLock(
      path,
      () => Promise.resolve(),
      (pid) => {
        told.push(pid);
        released.resolve(undefined);
      },
    );
    await Promise.all([first, second]);
    expect(told).toEqual([process.pid]);
  });
});
