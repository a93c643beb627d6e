import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import type { DefragmentationStep } from '../../defragmentation.ts';
import { StoreError } from '../../store-error.ts';
import type { LivingMember } from '../client.ts';
import { defragmentNext } from './defragment.ts';
import type { Alarm, EtcdMaintenanceCalls } from './maintenance-client.ts';

const mebibyte = 2 ** 20;
const limits = { freePercent: 45, minimumBytes: mebibyte, maximumPauseMs: 5000 };

/** Three members with free space, the second of which leads. What is called is recorded. */
class Rig {
  readonly said: string[] = [];
  readonly clock = new FakeClock();
  alarms: readonly Alarm[] = [];
  quotaBytes = 4096 * mebibyte;
  isLocked = false;
  blocked = '';
  failure: StoreError | undefined;
  readonly #sizes = new Map(['1', '2', '3'].map((id) => [`etcd-${id}`, 200 * mebibyte]));

  members(): Promise<readonly LivingMember[]> {
    return Promise.resolve(
      [...this.#sizes].map(([endpoint, sizeBytes], index) => ({
        ...{ endpoint, memberId: String(index + 1), leaderId: '2', isLearner: false },
        ...{ version: '3.6.16', storageVersion: '3.6.0', revision: 1n },
        ...{ sizeBytes, inUseBytes: 100 * mebibyte, quotaBytes: this.quotaBytes },
      })),
    );
  }

  readonly maintenance: EtcdMaintenanceCalls = {
    listMembers: () => Promise.resolve(['1', '2', '3'].map((id) => ({ id, name: `etcd-${id}`, isLearner: false }))),
    alarms: () => Promise.resolve(this.alarms),
    disarm: (memberId) => this.#record(`disarm ${memberId}`),
    compact: () => Promise.reject(new Error('no compaction was requested')),
    requireInSync: (endpoint) =>
      endpoint === this.blocked
        ? Promise.reject(new StoreError('Unreachable', `${endpoint} does not answer`))
        : this.#record(`in sync ${endpoint}`),
    defragment: async (endpoint) => {
      await this.#record(`defragment ${endpoint}`);
      if (this.failure !== undefined) throw this.failure;
      await this.clock.advance(1500);
      this.#sizes.set(endpoint, 101 * mebibyte);
    },
    lock: async () => {
      await this.#record('lock');
      return this.isLocked ? undefined : 'lease';
    },
    unlock: (lease) => this.#record(`unlock ${lease}`),
  };

  next(signal = new AbortController().signal): Promise<DefragmentationStep> {
    return defragmentNext(this, { limits, previous: [], clock: this.clock, signal });
  }

  #record(what: string): Promise<void> {
    this.said.push(what);
    return Promise.resolve();
  }
}

const inSync = ['in sync etcd-1', 'in sync etcd-2', 'in sync etcd-3'];

describe('A step of a defragmentation', () => {
  test('is taken under a lock, when every member is in sync, and reports what was freed and how long it took', async () => {
    const rig = new Rig();
    expect(await rig.next()).toEqual({
      is: 'defragmented',
      server: {
        ...{ endpoint: 'etcd-1', time: rig.clock.now(), pauseMs: 1500 },
        ...{ sizeBytes: 101 * mebibyte, freedBytes: 99 * mebibyte },
      },
    });
    expect(rig.said).toEqual(['lock', ...inSync, 'defragment etcd-1', 'unlock lease']);
  });

  test('comes to the leader last', async () => {
    const rig = new Rig();
    while ((await rig.next()).is !== 'unneeded');
    const defragmented = rig.said.filter((what) => what.startsWith('defragment'));
    expect(defragmented).toEqual(['defragment etcd-1', 'defragment etcd-3', 'defragment etcd-2']);
  });

  test('is not taken while a member is blocked or behind, or another process has the lock', async () => {
    const rig = new Rig();
    rig.blocked = 'etcd-3';
    expect(await rig.next()).toEqual({
      is: 'waits',
      reason: 'MembersUnhealthy',
      message: 'etcd-3 does not answer',
    });
    rig.isLocked = true;
    expect(await rig.next()).toMatchObject({ is: 'waits', reason: 'Busy' });
    expect(rig.said.filter((what) => what.startsWith('defragment'))).toEqual([]);
  });

  test('is not begun after the signal was aborted', async () => {
    const rig = new Rig();
    const stopped = new Error('stopped');
    await expect(rig.next(AbortSignal.abort(stopped))).rejects.toBe(stopped);
    expect(rig.said).toEqual(['lock', ...inSync, 'unlock lease']);
  });

  test('releases the lock and says why when it fails', async () => {
    const rig = new Rig();
    rig.failure = new StoreError('Failed', 'the disk is full');
    expect(await rig.next()).toEqual({ is: 'waits', reason: 'Failed', message: 'the disk is full' });
    expect(rig.said.at(-1)).toBe('unlock lease');
  });

  test('needs no lock when the quota is used up, because etcd would grant none', async () => {
    const rig = new Rig();
    rig.alarms = [{ memberId: '1', is: 'space', text: 'NOSPACE' }];
    rig.quotaBytes = 200 * mebibyte;
    await rig.next();
    expect(rig.said).toEqual([...inSync, 'defragment etcd-1']);
  });
});
