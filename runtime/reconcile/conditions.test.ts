import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Condition } from '../../api/meta.ts';
import {
  conditionsOf,
  isTrue,
  messageOf,
  reasonOf,
  setCondition,
  setConditions,
  summarize,
  withoutConditions,
  type NewCondition,
} from './conditions.ts';
import { ApiError, RetryError, TerminalError, UnreachableError } from '../client/errors.ts';
import type { Report } from './phases.ts';
import { retryOf } from '../queue/retry-policy.ts';

const at = (second: number, generation = 1): { generation: number; now: Date } => ({
  generation,
  now: new Date(second * 1000 + 7),
});
const status = fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const);
const next: fc.Arbitrary<NewCondition> = fc.record({
  type: fc.constantFrom('Ready', 'Available', 'Progressing'),
  status,
  reason: fc.constantFrom('A', 'B'),
  message: fc.constantFrom('', 'm', 'n'),
});

describe('Conditions', () => {
  test('change lastTransitionTime exactly when the status changes', () => {
    fc.assert(
      fc.property(fc.array(next, { maxLength: 30 }), (changes) => {
        let list: readonly Condition[] = [];
        const changed = new Map<string, { status: string; second: number }>();
        changes.forEach((change, second) => {
          list = setCondition(list, change, at(second, second));
          const before = changed.get(change.type);
          if (before?.status !== change.status) changed.set(change.type, { status: change.status, second });
        });
        expect(new Set(list.map(({ type }) => type)).size).toBe(list.length);
        for (const one of list) {
          expect(one.lastTransitionTime).toBe(
            new Date((changed.get(one.type)?.second ?? 0) * 1000).toISOString().replace('.000Z', 'Z'),
          );
        }
      }),
    );
  });

  test('are returned as the same list if nothing changed', () => {
    fc.assert(
      fc.property(fc.array(next), next, (before, one) => {
        const list = setCondition(setConditions([], before, at(0)), one, at(1));
        expect(setCondition(list, one, at(99))).toBe(list);
      }),
    );
  });

  test('keep the place and content of others', () => {
    const list = setConditions(
      [],
      ['A', 'B', 'C'].map((type) => ({ type, status: 'False', reason: 'R', message: '' })),
      at(0),
    );
    const after = setCondition(list, { type: 'B', status: 'True', reason: 'R', message: '' }, at(1));
    expect(after.map(({ type }) => type)).toEqual(['A', 'B', 'C']);
    expect([after[0], after[2]]).toEqual([list[0], list[2]]);
    expect(isTrue(after, 'B')).toBe(true);
    expect(isTrue(undefined, 'B')).toBe(false);
    expect(withoutConditions(after, ['A', 'C']).map(({ type }) => type)).toEqual(['B']);
    expect(withoutConditions(after, ['Z'])).toBe(after);
  });

  test('truncate a message that is longer than meta/v1 allows', () => {
    const [one] = setCondition([], { type: 'A', status: 'True', reason: 'R', message: 'x'.repeat(40_000) }, at(0));
    expect(one?.message.length).toBe(32_768);
  });

  test('a summary is True if all parts are, False if one is, and Unknown otherwise', () => {
    fc.assert(
      fc.property(fc.array(next), (changes) => {
        const list = setConditions([], changes, at(0));
        const parts = ['Ready', 'Available'];
        const states = parts.map((type) => list.find((one) => one.type === type)?.status ?? 'Unknown');
        const expected = states.includes('False') ? 'False' : states.includes('Unknown') ? 'Unknown' : 'True';
        expect(summarize(list, parts, 'All').status).toBe(expected);
      }),
    );
  });

  test('a summary names every failing part, with the reason of the first', () => {
    const list = setConditions(
      [],
      [
        { type: 'A', status: 'False', reason: 'NoStore', message: 'store is away' },
        { type: 'B', status: 'True', reason: 'Fine', message: '' },
        { type: 'C', status: 'False', reason: 'NoAddress', message: '' },
      ],
      at(0),
    );
    expect(summarize(list, ['C', 'B', 'A'], 'Ready')).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'NoAddress',
      message: 'C: NoAddress; A: store is away',
    });
    expect(summarize(list, ['B', 'D'], 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NotReported' });
    expect(summarize(list, ['B'], 'Ready')).toEqual({ type: 'Ready', status: 'True', reason: 'Ready', message: '' });
  });
});

test.each([
  ['a terminal error', new TerminalError('BadSpec', 'm'), 'BadSpec', { is: 'never' }],
  ['an error with its own pace', new RetryError('Busy', 'm', 70), 'Busy', { is: 'after', ms: 70 }],
  ['no answer', new UnreachableError('m'), 'Unreachable', { is: 'backoff' }],
  [
    'a server that is busy',
    new ApiError(429, 'TooManyRequests', 'm', { retryAfterMs: 1000 }),
    'TooManyRequests',
    { is: 'backoff', atLeastMs: 1000 },
  ],
  [
    'a server that requests a week',
    new ApiError(503, 'ServiceUnavailable', 'm', { retryAfterMs: 604_800_000 }),
    'ServiceUnavailable',
    { is: 'backoff', atLeastMs: 300_000 },
  ],
  ['a reason that no condition can carry', new ApiError(403, 'Denied:', 'm'), 'Failed', { is: 'backoff' }],
  ['a reason that is too long', new ApiError(403, 'x'.repeat(1025), 'm'), 'Failed', { is: 'backoff' }],
  [
    'a group of two busy servers',
    new AggregateError([
      new ApiError(429, 'A', 'm', { retryAfterMs: 2000 }),
      new ApiError(429, 'B', 'm', { retryAfterMs: 1000 }),
    ]),
    'A',
    { is: 'backoff', atLeastMs: 1000 },
  ],
  ['a conflict', new ApiError(409, 'Conflict', 'm'), 'Conflict', { is: 'backoff' }],
  ["a server's error without reason", new ApiError(500, '', 'm'), 'Failed', { is: 'backoff' }],
  ['any other error', new Error('m'), 'Failed', { is: 'backoff' }],
  ['what is no error', 'text', 'Failed', { is: 'backoff' }],
  [
    'a group that one of may be retried',
    new AggregateError([new TerminalError('A', 'm'), new RetryError('B', 'm', 9)]),
    'A',
    { is: 'after', ms: 9 },
  ],
  [
    'a group of terminal errors',
    new AggregateError([new TerminalError('A', 'm'), new TerminalError('B', 'm')]),
    'A',
    { is: 'never' },
  ],
  [
    'a group of two paces',
    new AggregateError([new RetryError('A', 'm', 9), new RetryError('B', 'm', 5)]),
    'A',
    { is: 'after', ms: 5 },
  ],
  [
    'a group with an unknown error',
    new AggregateError([new RetryError('A', 'm', 9), new Error('m')]),
    'A',
    { is: 'backoff' },
  ],
])('%s gives its reason and its retry', (_, error, reason, retry) => {
  expect(reasonOf(error)).toBe(reason);
  expect(retryOf(error)).toEqual(retry);
});

test('a group of errors contains each message', () => {
  expect(messageOf(new AggregateError([new Error('one'), new Error('two')]))).toBe('one; two');
});

test('the messages of several phases that are done are each reported once', () => {
  const line = (name: string, message?: string): Report<object>['lines'][number] => ({
    phase: { name, condition: 'Ready', run: () => Promise.reject(new Error('not run here')) },
    outcome: { is: 'done', message },
    tookMs: 0,
  });
  const lines = [line('a'), line('b', 'one'), line('c', 'two'), line('d', 'one'), line('e', '')];
  expect(conditionsOf({ scope: {}, lines })).toEqual([
    { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'one; two' },
  ]);
});
