import { describe, expect, test } from '@jest/globals';
import { StoreError } from '../store-error.ts';
import type { StoreErrorReason } from '../store-error.ts';
import { CompactedError } from '../tenancy-data.ts';
import { CanceledError, FencedTooLongError, UnequalError, pauseMs, planFor } from './failure-plan.ts';
import type { FailurePlan, Setbacks } from './failure-plan.ts';
import type { MigrationPhase } from './migration-journal.ts';

const none: Setbacks = { inARow: 0, tries: 0, unequal: 0, compacted: 0 };
const store = (reason: StoreErrorReason): StoreError => new StoreError(reason, `store: ${reason}`);

const cases: readonly (readonly [string, unknown, MigrationPhase, Partial<Setbacks>, FailurePlan['is']])[] = [
  ['a store that does not answer', store('Unreachable'), 'Copying', {}, 'again'],
  ['a store that has not answered for long', store('Unreachable'), 'Copying', { inARow: 500 }, 'again'],
  ['credentials that a person must mend', store('Unauthorized'), 'Preparing', { inARow: 500 }, 'again'],
  ['a refusal', store('Failed'), 'Copying', { inARow: 3 }, 'again'],
  ['a refusal for the fifth time', store('Failed'), 'Copying', { inARow: 4 }, 'roll back'],
  ['names of another owner', store('OwnedByAnother'), 'Preparing', {}, 'roll back'],
  ['a store that takes one tenant', store('SingleTenant'), 'Preparing', {}, 'roll back'],
  ['a revision that was compacted', new CompactedError('gone'), 'Following', {}, 'go back'],
  ['a revision that was compacted while fenced', new CompactedError('gone'), 'Finishing', { tries: 1 }, 'go back'],
  [
    'a revision that was compacted for the sixth time',
    new CompactedError('gone'),
    'Copying',
    { compacted: 5 },
    'roll back',
  ],
  ['a compaction while fenced, thrice', new CompactedError('gone'), 'Finishing', { tries: 3 }, 'roll back'],
  ['a compaction while rolling back', new CompactedError('gone'), 'RollingBack', { compacted: 500 }, 'again'],
  ['stores that differ', new UnequalError('differ'), 'Following', {}, 'go back'],
  ['stores that differ again', new UnequalError('differ'), 'Finishing', { unequal: 1 }, 'roll back'],
  ['a silent store while fenced', store('Unreachable'), 'Finishing', { tries: 1 }, 'go back'],
  ['a silent store while fenced, thrice', store('Unreachable'), 'Finishing', { tries: 3 }, 'roll back'],
  ['a fence that stood too long', new FencedTooLongError('long'), 'Finishing', { tries: 2 }, 'go back'],
  ['a fence that stood too long, thrice', new FencedTooLongError('long'), 'Finishing', { tries: 3 }, 'roll back'],
  ['a change of mind', new CanceledError('no'), 'Finishing', {}, 'roll back'],
  ['a mistake of ours', new TypeError('oops'), 'Copying', {}, 'throw'],
  ['a refusal while rolling back', store('Failed'), 'RollingBack', { inARow: 500 }, 'again'],
  ['a change of mind while rolling back', new CanceledError('no'), 'RollingBack', {}, 'throw'],
  ['a mistake of ours while rolling back', new TypeError('oops'), 'RollingBack', {}, 'throw'],
];

describe('planFor', () => {
  test.each(cases)('answers %s', (...[, error, phase, setbacks, plan]) => {
    expect(planFor(error, phase, { ...none, ...setbacks }).is).toBe(plan);
  });

  test('has messages that name the fix', () => {
    expect(planFor(store('Failed'), 'Copying', { ...none, inARow: 4 })).toMatchObject({
      reason: 'store: Failed (tried 5 times)',
    });
    expect(planFor(new CompactedError('gone'), 'Following', none)).toMatchObject({
      to: 'Copying',
      afterMs: 1000,
      problem: 'gone: everything is compared again',
    });
    expect(planFor(new CompactedError('gone'), 'Copying', { ...none, compacted: 5 })).toMatchObject({
      reason: expect.stringMatching(/^gone, for the 6th time: .*--auto-compaction-retention/),
    });
  });

  test('waits longer after each compaction', () => {
    const waits = [0, 1, 2, 3, 4].map((compacted) =>
      planFor(new CompactedError('gone'), 'Copying', { ...none, compacted }),
    );
    expect(waits.map((plan) => ('afterMs' in plan ? plan.afterMs : undefined))).toEqual([
      1000, 2000, 4000, 8000, 16_000,
    ]);
  });
});

describe('pauseMs', () => {
  test('doubles up to half a minute', () => {
    expect([0, 1, 2, 5, 50].map(pauseMs)).toEqual([1000, 2000, 4000, 30_000, 30_000]);
  });
});
