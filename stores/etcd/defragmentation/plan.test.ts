import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LivingMember, MemberAnswer } from '../client.ts';
import { planDefragmentation } from './plan.ts';
import type { Plan, PlanInput } from './plan.ts';

const mebibyte = 2 ** 20;
const now = new Date('2026-05-01T12:00:00Z');
const limits = { freePercent: 45, minimumBytes: 100 * mebibyte, maximumPauseMs: 5000 };

/** A member that leads unless another one is named; half of its file of 200 MiB is free. */
function member(id: number, over: Partial<LivingMember> = {}): LivingMember {
  return {
    ...{ endpoint: `etcd-${id}:2379`, memberId: String(id), leaderId: '2', isLearner: false },
    ...{ version: '3.6.16', storageVersion: '3.6.0', revision: 1n },
    ...{ sizeBytes: 200 * mebibyte, inUseBytes: 100 * mebibyte, quotaBytes: 4096 * mebibyte },
    ...over,
  };
}

const three = [member(1), member(2), member(3)];
const tidy = { inUseBytes: 190 * mebibyte };

function plan(answers: readonly MemberAnswer[], over: Partial<PlanInput> = {}): Plan {
  const members = [1, 2, 3].map((id) => ({ id: String(id), name: `etcd-${id}`, isLearner: false }));
  const listed = members.slice(0, answers.length);
  return planDefragmentation({ answers, members: listed, alarms: [], limits, previous: [], now, ...over });
}

const failed: MemberAnswer = {
  endpoint: 'etcd-3:2379',
  failure: { endpoint: 'etcd-3:2379', error: new Error('14 UNAVAILABLE: connect ECONNREFUSED') },
};
const full = { memberId: '1', is: 'space', text: 'NOSPACE' } as const;

describe('planDefragmentation', () => {
  test.each<[string, readonly MemberAnswer[], object]>([
    ['the first follower', three, { is: 'defragment', member: { endpoint: 'etcd-1:2379' } }],
    ['the next follower', [member(1, tidy), member(2), member(3)], { is: 'defragment', member: { memberId: '3' } }],
    [
      'the leader after all others',
      [member(1, tidy), member(2), member(3, tidy)],
      { is: 'defragment', member: { memberId: '2' } },
    ],
    ['a single member', [member(1, { leaderId: '1' })], { is: 'defragment', member: { memberId: '1' } }],
    ['no member', three.map((one) => ({ ...one, ...tidy })), { is: 'unneeded' }],
    ['no member whose file is small', [member(1, { leaderId: '1', sizeBytes: 99 * mebibyte })], { is: 'unneeded' }],
  ])('chooses %s', (_, answers, expected) => {
    expect(plan(answers)).toMatchObject(expected);
  });

  test.each<[string, readonly MemberAnswer[], Partial<PlanInput>, readonly [reason: string, message: RegExp]]>([
    ['does not answer', [member(1), member(2), failed], {}, ['MembersUnhealthy', /etcd-3:2379: connect ECONNREFUSED/]],
    ['is a learner', [member(1), member(2), member(3, { isLearner: true })], {}, ['MembersUnhealthy', /learner/]],
    ['has no leader', [member(1), member(2), member(3, { leaderId: '0' })], {}, ['MembersUnhealthy', /etcd-3:2379/]],
    ['sees another leader', [member(1), member(2), member(3, { leaderId: '1' })], {}, ['MembersUnhealthy', /etcd-3/]],
    [
      'is corrupt',
      three,
      { alarms: [{ memberId: '3', is: 'other', text: 'CORRUPT' }] },
      ['AlarmRaised', /etcd-3:2379 has raised the alarm CORRUPT/],
    ],
    [
      'is missing among the endpoints',
      three.slice(0, 2),
      { members: [1, 2, 3].map((id) => ({ id: String(id), name: id === 3 ? '' : 'named', isLearner: false })) },
      ['MembersNotListed', /member 3 is not among spec\.endpoints/],
    ],
    [
      'is there under two endpoints',
      [member(1), member(2), member(2, { endpoint: 'balancer:2379' })],
      {},
      ['MembersNotListed', /etcd-2:2379 and balancer:2379 are the same member/],
    ],
    [
      'is of another cluster',
      three,
      { members: [1, 2].map((id) => ({ id: String(id), name: 'named', isLearner: false })) },
      ['MembersNotListed', /etcd-3:2379 belongs to another cluster/],
    ],
  ])('does nothing while a member %s', (_, answers, over, [reason, message]) => {
    const waiting = plan(answers, over);
    expect(waiting).toMatchObject({ is: 'waits', reason });
    expect(waiting).toHaveProperty('message', expect.stringMatching(message));
  });

  test('leaves a member alone for an hour', () => {
    const before = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
    const once = { endpoint: 'etcd-1:2379', sizeBytes: 1, freedBytes: 1, pauseMs: 1 };
    const single = [member(1, { leaderId: '1' })];
    expect(plan(single, { previous: [{ ...once, time: before(59) }] })).toEqual({ is: 'unneeded' });
    expect(plan(single, { previous: [{ ...once, time: before(60) }] })).toMatchObject({ is: 'defragment' });
    // Not while etcd accepts no writes.
    const crowded = [member(1, { leaderId: '1', sizeBytes: 4096 * mebibyte, inUseBytes: 3000 * mebibyte })];
    const previous = [{ ...once, time: before(1) }];
    expect(plan(crowded, { previous, alarms: [full] })).toMatchObject({ is: 'defragment' });
  });

  test('leaves members alone that would be blocked for too long, by the slowest of the measured ones', () => {
    const large = { leaderId: '1', sizeBytes: 4000 * mebibyte, inUseBytes: 101 * mebibyte };
    expect(plan([member(1, large)])).toMatchObject({
      is: 'waits',
      reason: 'PauseTooLong',
      message: expect.stringMatching(/^etcd-1:2379 has 101 MiB in use and could be blocked for 6 s/),
    });
    expect(plan([member(1, { ...large, inUseBytes: 100 * mebibyte })])).toMatchObject({ is: 'defragment' });
    const time = new Date(0);
    const seen = (sizeBytes: number, pauseMs: number) => ({ endpoint: 'a', time, freedBytes: 0, sizeBytes, pauseMs });
    // 50 MiB in a second, 40 MiB in a second, and one that says nothing because it was short.
    const fast = seen(50 * mebibyte, 1000);
    const short = seen(mebibyte, 249);
    expect(plan([member(1, large)], { previous: [fast, short] })).toMatchObject({ is: 'defragment' });
    expect(plan([member(1, large)], { previous: [fast, seen(40 * mebibyte, 1000)] })).toMatchObject({ is: 'waits' });
  });

  test('does what it can while one member would be blocked for too long', () => {
    const slow = { sizeBytes: 4000 * mebibyte, inUseBytes: 400 * mebibyte };
    expect(plan([member(1, slow), member(2), member(3)])).toMatchObject({
      is: 'defragment',
      member: { memberId: '3' },
    });
  });

  test('frees a little, and for any length, when the quota is used up', () => {
    const crowded = { sizeBytes: 4096 * mebibyte, inUseBytes: 3000 * mebibyte, leaderId: '1' };
    expect(plan([member(1, crowded)])).toEqual({ is: 'unneeded' });
    expect(plan([member(1, crowded)], { alarms: [full] })).toMatchObject({ is: 'defragment' });
  });

  test('does not defragment a small file again, whose free pages stay, when the quota is used up', () => {
    const small = { sizeBytes: mebibyte / 8, inUseBytes: mebibyte / 16 };
    const quota = { quotaBytes: 32 * mebibyte };
    expect(
      plan(
        [1, 2, 3].map((id) => member(id, { ...small, ...quota })),
        { alarms: [full] },
      ),
    ).toMatchObject({
      is: 'disarm',
    });
    // With an unknown quota, what was defragmented within the hour is enough.
    const unknown = member(1, { ...small, quotaBytes: 0, leaderId: '1' });
    const done = { ...{ endpoint: unknown.endpoint, freedBytes: 0, sizeBytes: 0, pauseMs: 0 }, time: now };
    expect(plan([unknown], { alarms: [full] })).toMatchObject({ is: 'defragment' });
    expect(plan([unknown], { alarms: [full], previous: [done] })).toMatchObject({
      is: 'waits',
      reason: 'SpaceExceeded',
    });
  });

  test('ends the alarm of a used-up quota when every member has space, and only then', () => {
    const alarms = [full, { ...full, memberId: '3' }];
    const roomy = { sizeBytes: 1000 * mebibyte, inUseBytes: 990 * mebibyte };
    const all = [member(1, roomy), member(2, roomy), member(3, roomy)];
    expect(plan(all, { alarms })).toEqual({ is: 'disarm', memberIds: ['1', '3'] });
    const used = { sizeBytes: 3300 * mebibyte, inUseBytes: 3290 * mebibyte };
    expect(plan([member(1, roomy), member(2, roomy), member(3, used)], { alarms })).toMatchObject({
      is: 'waits',
      reason: 'SpaceExceeded',
      message: expect.stringMatching(/^etcd-3:2379 has used up the quota of 4096 MiB .*3290 MiB are in use/),
    });
    // Without its quota nobody can say that there is space.
    expect(plan([member(1, { ...roomy, leaderId: '1', quotaBytes: 0 })], { alarms: [full] })).toMatchObject({
      is: 'waits',
      reason: 'SpaceExceeded',
    });
  });

  const anyMember = (id: number) =>
    fc
      .record({
        sizeBytes: fc.integer({ min: 1, max: 8192 }).map((size) => size * mebibyte),
        used: fc.integer({ min: 0, max: 100 }),
        leaderId: fc.constantFrom('0', '1', '2', '2', '2', '2'),
        isLearner: fc.constantFrom(false, false, false, true),
        answers: fc.constantFrom(true, true, true, true, false),
      })
      .map(({ used, answers, ...over }): MemberAnswer => {
        const one = member(id, { ...over, inUseBytes: Math.floor((over.sizeBytes * used) / 100) });
        return answers ? one : { endpoint: one.endpoint, failure: { endpoint: one.endpoint, error: new Error('14') } };
      });

  test('never touches a cluster with a broken member, and never the leader while a follower could be next', () => {
    fc.assert(
      fc.property(
        fc.tuple(anyMember(1), anyMember(2), anyMember(3)),
        fc.constantFrom([], [full], [{ memberId: '2', is: 'other', text: 'CORRUPT' } as const]),
        (answers, alarms) => {
          const next = plan(answers, { alarms });
          if (next.is === 'unneeded' || next.is === 'waits') return;
          const living = answers.filter((answer) => 'version' in answer);
          expect(living).toHaveLength(3);
          expect(living.every(({ isLearner, leaderId }) => !isLearner && leaderId === living[0]?.leaderId)).toBe(true);
          expect(alarms.every(({ is }) => is === 'space')).toBe(true);
          if (next.is === 'disarm') return;
          if (next.member.memberId !== next.member.leaderId) return;
          const followers = living.filter(({ memberId, leaderId }) => memberId !== leaderId);
          for (const one of followers) {
            const alone = [{ id: one.memberId, name: 'named', isLearner: false }];
            const own = plan([{ ...one, leaderId: one.memberId }], { alarms, members: alone });
            expect(own.is).not.toBe('defragment');
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
