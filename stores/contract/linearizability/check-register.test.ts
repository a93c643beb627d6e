import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkRegister, HistoryTooWideError } from './check-register.ts';
import { anyHistory, linearHistory } from './generated-history.ts';
import { valueAfter } from './register-operation.ts';
import type { ChangeOutcome, RegisterOperation, RegisterValue } from './register-operation.ts';

type Span = readonly [start: number, end: number];

const read = (client: string, [start, end]: Span, found: RegisterValue): RegisterOperation => ({
  is: 'read',
  client,
  start,
  end,
  found,
});
const write = (
  client: string,
  [start, end]: Span,
  value: string,
  outcome: ChangeOutcome = 'ok',
): RegisterOperation => ({
  is: 'write',
  client,
  start,
  end,
  value,
  outcome,
});
const swap = (
  client: string,
  [start, end]: Span,
  [expected, value]: readonly [RegisterValue, RegisterValue],
  outcome: ChangeOutcome = 'ok',
): RegisterOperation => ({ is: 'compare-and-set', client, start, end, expected, value, outcome });
const remove = (client: string, [start, end]: Span, outcome: ChangeOutcome = 'ok'): RegisterOperation => ({
  is: 'delete',
  client,
  start,
  end,
  outcome,
});

/** Tries every order of the calls: slow, and obviously right. */
function isLinearizable(history: readonly RegisterOperation[]): boolean {
  const place = (left: readonly RegisterOperation[], held: RegisterValue): boolean => {
    if (left.every((one) => one.is !== 'read' && one.outcome !== 'ok')) return true;
    return left.some((one) => {
      if (one.is !== 'read' && one.outcome === 'failed') return false;
      const others = left.filter((other) => other !== one);
      const mustWait = others.some((other) => (other.is === 'read' || other.outcome === 'ok') && other.end < one.start);
      if (mustWait) return false;
      if (one.is === 'read') return one.found === held && place(others, held);
      if (one.is === 'compare-and-set' && one.expected !== held) return false;
      return place(others, valueAfter(one));
    });
  };
  return place(history, undefined);
}

/** The same calls at a later time, by other clients. */
const later = (history: readonly RegisterOperation[], by: number): readonly RegisterOperation[] =>
  history.map((one) => ({ ...one, client: `late-${one.client}`, start: one.start + by, end: one.end + by }));

/** What is wrong, and the call that has to be named; each begins with a write, so that it does not matter what was before. */
const planted: readonly (readonly [
  name: string,
  history: readonly RegisterOperation[],
  named: number,
  reason: RegExp,
])[] = [
  [
    'a stale read',
    [write('a', [0, 1], 'one'), write('b', [2, 3], 'two'), read('c', [4, 5], 'one')],
    2,
    /c: read "one".* that value had been replaced by then\n {2}possible: "two"[^]*a: write "one"[^]*b: write "two"/,
  ],
  [
    'a read that goes back behind what another client has read',
    [write('a', [0, 1], 'one'), write('b', [2, 9], 'two'), read('c', [3, 4], 'two'), read('d', [5, 6], 'one')],
    3,
    /d: read "one".* replaced/,
  ],
  [
    'a lost write',
    [write('a', [0, 1], 'one'), swap('b', [2, 3], ['one', 'two']), read('c', [4, 5], 'one'), read('c', [6, 7], 'one')],
    2,
    /c: read "one"[^]*b: replace "one" by "two" \(ok\)/,
  ],
  [
    'a write that is lost without a trace',
    [remove('a', [0, 1]), write('b', [2, 3], 'one'), read('c', [4, 5], undefined)],
    2,
    /c: read nothing[^]*b: write "one" \(ok\)/,
  ],
  [
    'a failed write that took effect',
    [write('a', [0, 1], 'one'), write('b', [2, 3], 'two', 'failed'), read('c', [4, 5], 'two')],
    2,
    /c: read "two".* by a call that had failed[^]*b: write "two" \(failed\)/,
  ],
  [
    'a read from the future',
    [write('a', [0, 1], 'one'), read('c', [2, 3], 'two'), write('b', [4, 5], 'two')],
    1,
    /c: read "two".* only later[^]*b: write "two"/,
  ],
  ['a read of what nobody wrote', [write('a', [0, 1], 'one'), read('b', [2, 3], 'rubbish')], 1, /nobody wrote/],
  [
    'a split brain: two updates of one version',
    [write('a', [0, 1], 'one'), swap('b', [2, 5], ['one', 'two']), swap('c', [3, 6], ['one', 'three'])],
    2,
    /c: replace "one" by "three"[^]*b: replace "one" by "two"/,
  ],
  [
    'a split brain: two halves that each answer their own clients',
    [
      write('a', [0, 1], 'one'),
      write('b', [2, 3], 'left'),
      write('c', [2, 3], 'right'),
      read('b', [4, 5], 'left'),
      read('c', [6, 7], 'right'),
    ],
    4,
    /c: read "right"[^]*"left"/,
  ],
  [
    'an unknown write that takes effect twice',
    [
      write('a', [0, 1], 'one'),
      write('b', [2, 3], 'two', 'unknown'),
      read('c', [4, 5], 'two'),
      write('c', [6, 7], 'three'),
      read('c', [8, 9], 'two'),
    ],
    4,
    /c: read "two"/,
  ],
  [
    'a deletion that is undone',
    [write('a', [0, 1], 'one'), remove('b', [2, 3]), read('c', [4, 5], 'one')],
    2,
    /c: read "one"[^]*b: delete \(ok\)/,
  ],
];

describe('A history of a register', () => {
  test('is accepted if a register made it that takes calls one at a time', () => {
    fc.assert(
      fc.property(linearHistory(60), (history) => {
        expect(checkRegister(history)).toEqual({ staleReads: [] });
      }),
      { numRuns: 500 },
    );
  });

  test('is judged as by trying every order', () => {
    const seen = { yes: 0, no: 0 };
    fc.assert(
      fc.property(fc.oneof(anyHistory(6), linearHistory(7)), (history) => {
        const is = isLinearizable(history);
        seen[is ? 'yes' : 'no'] += 1;
        expect(checkRegister(history).violation === undefined).toBe(is);
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(300);
  });

  test.each(planted)('is refused with %s, whose calls are named', (_, history, named, reason) => {
    expect(isLinearizable(history)).toBe(false);
    fc.assert(
      fc.property(linearHistory(30), (before) => {
        const settled = before.filter((one) => one.is === 'read' || one.outcome !== 'unknown');
        const accepted = checkRegister(settled).violation === undefined ? settled : [];
        const wrong = later(history, 10_000);
        const { violation } = checkRegister([...accepted, ...wrong]);
        expect(violation?.operation).toEqual(wrong[named]);
        expect(violation?.message.replaceAll('late-', '')).toMatch(reason);
      }),
      { numRuns: 50 },
    );
  });

  test('is refused once a read of a linear history is made to find what was there long before', () => {
    fc.assert(
      fc.property(linearHistory(40), (history) => {
        const old = write('old', [-20, -19], 'old');
        const whole = [old, remove('old', [-18, -17]), ...history];
        expect(checkRegister(whole).violation).toBeUndefined();
        const reads = history.filter((one) => one.is === 'read');
        for (const one of reads) {
          const stale = whole.map((other) => (other === one ? { ...one, found: 'old' } : other));
          expect(checkRegister(stale).violation?.operation).toEqual({ ...one, found: 'old' });
        }
      }),
      { numRuns: 100 },
    );
  });

  test('counts stale reads where a store is known to answer them, and nothing else', () => {
    const mayBeStale = (one: RegisterOperation): RegisterOperation =>
      one.is === 'read' ? { ...one, mayBeStale: true } : one;
    const history = [
      write('a', [0, 1], 'one'),
      write('a', [2, 3], 'two'),
      read('b', [4, 5], 'one'),
      read('b', [4, 5], 'two'),
      read('b', [6, 7], undefined),
    ].map(mayBeStale);
    expect(checkRegister(history)).toEqual({ staleReads: [history[2], history[4]] });
    const verdicts = planted.map(([name, calls]) => {
      const { violation, staleReads } = checkRegister(calls.map(mayBeStale));
      return [name, violation === undefined ? staleReads.length : 'refused'];
    });
    expect(Object.fromEntries(verdicts)).toEqual({
      'a stale read': 1,
      // Each of these reads by itself fits an order of the writes, which overlap.
      'a read that goes back behind what another client has read': 0,
      'a split brain: two halves that each answer their own clients': 0,
      'an unknown write that takes effect twice': 0,
      'a lost write': 2,
      'a write that is lost without a trace': 1,
      'a failed write that took effect': 'refused',
      'a read from the future': 'refused',
      'a read of what nobody wrote': 'refused',
      'a split brain: two updates of one version': 'refused',
      'a deletion that is undone': 1,
    });
    fc.assert(
      fc.property(linearHistory(40), (linear) => {
        expect(checkRegister(linear.map(mayBeStale))).toEqual({ staleReads: [] });
      }),
    );
  });

  test('is checked quickly if it is long, also with many calls whose outcome is unknown', () => {
    const history = Array.from({ length: 1000 }, (_, index): readonly RegisterOperation[] => [
      write('a', [10 * index, 10 * index + 8], `a ${index}`),
      write('b', [10 * index + 1, 10 * index + 9], `b ${index}`),
      read('c', [10 * index + 2, 10 * index + 7], index % 2 === 0 ? `a ${index}` : `b ${index}`),
      write('d', [10 * index, 10 * index + 1], `d ${index}`, 'unknown'),
      ...(index % 100 === 0 ? [remove('e', [10 * index, 10 * index + 1], 'unknown')] : []),
    ]).flat();
    expect(checkRegister(history)).toEqual({ staleReads: [] });
  });

  test('that is too wide is an error, not a verdict', () => {
    const wide = Array.from({ length: 24 }, (_, index) => write(`client-${index}`, [0, 10], `value ${index}`));
    const unseen = read('reader', [0, 10], 'value 7');
    expect(() => checkRegister([...wide, unseen], { mostStates: 500 })).toThrow(HistoryTooWideError);
    expect(() => checkRegister([...wide, unseen], { mostStates: 500 })).toThrow(
      /25 calls overlap.*more than 500 states/,
    );
  });

  test('that makes no sense is an error', () => {
    expect(() => checkRegister([write('a', [0, 1], 'x'), write('b', [2, 3], 'x')])).toThrow(/written twice/);
    expect(() => checkRegister([write('a', [0, 1], 'x')], { initial: 'x' })).toThrow(/written twice/);
    expect(() => checkRegister([write('a', [2, 1], 'x')])).toThrow(/ends before it starts/);
  });

  test('may begin with a value', () => {
    expect(checkRegister([read('a', [0, 1], 'x')], { initial: 'x' }).violation).toBeUndefined();
    expect(checkRegister([read('a', [0, 1], undefined)], { initial: 'x' }).violation).toBeDefined();
  });
});
