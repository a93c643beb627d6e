import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Turns } from './turns.ts';

const { signal } = new AbortController();

describe('Turns', () => {
  test('are never more than allowed, in order, and none is lost to those who left or end twice', async () => {
    const step = fc.record({ act: fc.constantFrom('take', 'end', 'leave'), at: fc.nat(9) });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 30 }), async (most, steps) => {
        const turns = new Turns(most);
        const given: number[] = [];
        const ends = new Map<number, () => void>();
        const waiting = new Map<number, AbortController>();
        let next = 0;
        const take = async (id: number, stop: AbortController): Promise<void> => {
          const end = await turns.take(stop.signal);
          waiting.delete(id);
          given.push(id);
          ends.set(id, end);
        };
        for (const { act, at } of steps) {
          if (act === 'take') {
            const [id, stop] = [next, new AbortController()];
            next += 1;
            waiting.set(id, stop);
            take(id, stop).catch(() => waiting.delete(id));
          } else if (act === 'end') {
            const [id, end] = [...ends][at] ?? [];
            end?.();
            end?.();
            ends.delete(id ?? -1);
          } else [...waiting.values()][at]?.abort(new Error('enough'));
          await new Promise((resolve) => setImmediate(resolve));
          expect(ends.size).toBeLessThanOrEqual(most);
          expect(ends.size === most || waiting.size === 0).toBe(true);
        }
        expect(given).toEqual(given.toSorted((a, b) => a - b));
      }),
    );
  });

  test('are not given to who has left already', async () => {
    const turns = new Turns(1);
    await expect(turns.take(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    (await turns.take(signal))();
    (await turns.take(signal))();
  });
});
