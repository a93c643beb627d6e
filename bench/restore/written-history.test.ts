import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { compareWithHistory, isWithin, lostAfter } from './written-history.ts';
import type { FoundObject, HistoryWrite } from './written-history.ts';

const textOf = (body: string): string => `object ${body}`;

const unanswered = (key: string, begunAt: number, body: string | undefined): HistoryWrite => ({
  ...{ key, begunAt, is: body === undefined ? 'delete' : 'overwrite' },
  ...(body !== undefined && { body }),
});

/** Answered after some milliseconds. */
const write = (key: string, begunAt: number, body: string | undefined, takes = 2): HistoryWrite => ({
  ...unanswered(key, begunAt, body),
  acknowledgedAt: begunAt + takes,
  ...(body !== undefined && { text: textOf(body) }),
});

const found = (objects: Readonly<Record<string, string>>): ReadonlyMap<string, FoundObject> =>
  new Map(Object.entries(objects).map(([key, body]) => [key, { body, text: textOf(body) }]));

describe('What is found, compared with a recorded history,', () => {
  const history = [write('a', 10, 'a1'), write('b', 20, 'b1'), write('a', 30, 'a2'), write('b', 40, undefined)];

  test.each([
    [{}, { from: -Infinity, to: 12 }],
    [{ a: 'a1' }, { from: 10, to: 22 }],
    [
      { a: 'a1', b: 'b1' },
      { from: 20, to: 32 },
    ],
    [
      { a: 'a2', b: 'b1' },
      { from: 30, to: 42 },
    ],
    [{ a: 'a2' }, { from: 40, to: Infinity }],
  ])('%j is the state of one time', (objects, span) => {
    expect(compareWithHistory(history, found(objects))).toEqual({ spans: [span], differences: [] });
  });

  test.each([[{ b: 'b1' }], [{ a: 'a1', b: 'b2' }], [{ a: 'a1', c: 'c1' }]])('%j never was', (objects) => {
    expect(compareWithHistory(history, found(objects)).spans).toEqual([]);
  });

  test('an older write that is lost while a newer one is there is no state of any time', () => {
    const verdict = compareWithHistory([write('a', 10, 'a1'), write('b', 20, 'b1')], found({ b: 'b1' }));
    expect(verdict).toEqual({ spans: [], differences: [] });
  });

  test('writes under way at once may have happened in any order', () => {
    const both = [write('a', 10, 'a1', 20), write('b', 15, 'b1', 5)];
    expect(compareWithHistory(both, found({ b: 'b1' })).spans).toEqual([{ from: 15, to: 30 }]);
    expect(compareWithHistory(both, found({ a: 'a1' })).spans).toEqual([{ from: 10, to: 20 }]);
  });

  test('a write that was not answered may be there or not', () => {
    const last = [write('a', 10, 'a1'), unanswered('a', 20, 'a2')];
    expect(compareWithHistory(last, found({ a: 'a1' })).spans).toEqual([{ from: 10, to: Infinity }]);
    expect(compareWithHistory(last, found({ a: 'a2' })).spans).toEqual([{ from: 20, to: Infinity }]);
    const deletion = [write('a', 10, 'a1'), unanswered('a', 20, undefined)];
    expect(compareWithHistory(deletion, found({})).spans).toEqual([
      { from: -Infinity, to: 12 },
      { from: 20, to: Infinity },
    ]);
  });

  test('an object with another text than was answered differs, whatever was sent', () => {
    const changed = new Map([['a', { body: 'a1', text: 'object with other labels' }]]);
    const { spans, differences } = compareWithHistory([write('a', 10, 'a1')], changed);
    expect(spans).toEqual([]);
    expect(differences).toEqual(['a: object a1 → object with other labels']);
  });

  test('what nobody wrote is named', () => {
    const { differences } = compareWithHistory(history, found({ a: 'a2', c: 'c1' }));
    expect(differences).toEqual(['c: was never written']);
    expect(compareWithHistory(history, found({ a: 'a9' })).differences).toEqual(['a: has what was never written: a9']);
    expect(compareWithHistory([write('a', 1, 'a1')], found({})).differences).toEqual([]);
  });

  test('lost are the acknowledged writes after the state that is found', () => {
    const lost = (objects: Readonly<Record<string, string>>, moment: number): readonly number[] =>
      lostAfter(history, found(objects), moment).map(({ begunAt }) => begunAt);
    expect(lost({ a: 'a1' }, 22)).toEqual([30, 20, 40]);
    expect(lost({ a: 'a2' }, Infinity)).toEqual([]);
    expect(lost({}, 12)).toEqual([10, 30, 20, 40]);
    expect(lostAfter([write('a', 10, 'a1'), unanswered('a', 20, 'a2')], found({ a: 'a1' }), 99)).toEqual([]);
  });

  test('the state after any write of any history is found at that time, and the writes after it are lost', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      isDeletion: fc.boolean(),
      gap: fc.integer({ min: 3, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.nat(), (steps, cut) => {
        let at = 0;
        const there = new Set<string>();
        const all = steps.map(({ key, isDeletion, gap }, number) => {
          at += gap;
          const isDelete = isDeletion && there.has(key);
          if (isDelete) there.delete(key);
          else there.add(key);
          return write(key, at, isDelete ? undefined : `${key}${number}`);
        });
        const kept = all.slice(0, cut % (all.length + 1));
        const state = new Map<string, string>();
        for (const { key, body } of kept)
          if (body === undefined) state.delete(key);
          else state.set(key, body);
        const now = kept.at(-1)?.acknowledgedAt ?? 0;
        const objects = found(Object.fromEntries(state));
        const { spans, differences } = compareWithHistory(all, objects);
        expect(differences).toEqual([]);
        expect(spans.some((span) => isWithin(now, span))).toBe(true);
        expect(lostAfter(all, objects, now)).toHaveLength(all.length - kept.length);
      }),
    );
  });
});
