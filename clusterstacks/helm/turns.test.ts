import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Turns } from './turns.ts';

const { signal } = new AbortController();
const of = (namespace: string, name = 'x') => ({ namespace, name });

/** Keeps one turn until it is given back. */
function held(turns: Turns, namespace: string, name?: string) {
  const end = Promise.withResolvers<undefined>();
  const done = turns.run(of(namespace, name), () => end.promise, signal);
  return {
    giveBack: async () => {
      end.resolve(undefined);
      await done;
    },
  };
}

/** Queues work in this order of arrival while the only turn is taken, and returns the order in which it ran. */
async function orderOf(arrivals: readonly string[]): Promise<readonly string[]> {
  const turns = new Turns(1);
  const first = held(turns, 'first');
  const order: string[] = [];
  const all = arrivals.map((arrival) => {
    const [namespace = '', name = ''] = arrival.split('/');
    return turns.run(of(namespace, name), () => Promise.resolve(order.push(arrival)), signal);
  });
  await first.giveBack();
  await Promise.all(all);
  return order;
}

describe('Turns', () => {
  test('never let more than the given number run, and serve all in order of arrival', async () => {
    const turns = new Turns(2);
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(name);
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(names.map((name) => turns.run(of(name), work(name), signal)));
    expect(most).toBe(2);
    expect(order).toEqual(names);
  });

  test('rotate between namespaces, so that one with many requests only delays itself', async () => {
    expect(await orderOf(['slow/a', 'slow/b', 'slow/c', 'slow/d', 'one/a', 'two/a', 'two/b'])).toEqual([
      ...['slow/a', 'one/a', 'two/a'],
      ...['slow/b', 'two/b'],
      ...['slow/c', 'slow/d'],
    ]);
  });

  test('rotate between the names of a namespace', async () => {
    expect(await orderOf(['n/a', 'n/a', 'n/a', 'n/b'])).toEqual(['n/a', 'n/b', 'n/a', 'n/a']);
  });

  test('give a name one at a time, and the free ones to others', async () => {
    const turns = new Turns(2);
    const first = held(turns, 'slow');
    const seen: string[] = [];
    const again = turns.run(of('slow'), () => Promise.resolve(seen.push('slow')), signal);
    await turns.run(of('other'), () => Promise.resolve(seen.push('other')), signal);
    expect(seen).toEqual(['other']);
    await first.giveBack();
    await again;
    expect(seen).toEqual(['other', 'slow']);
  });

  test('prefer a namespace without running work', async () => {
    const turns = new Turns(2);
    const [slow, last] = [held(turns, 'slow', 'a'), held(turns, 'last', 'a')];
    const order: string[] = [];
    const more = ['slow', 'fresh'].map((name) =>
      turns.run(of(name, 'b'), () => Promise.resolve(order.push(name)), signal),
    );
    await last.giveBack();
    await Promise.all(more);
    expect(order).toEqual(['fresh', 'slow']);
    await slow.giveBack();
  });

  test('do not let returning namespaces overtake a waiting one', async () => {
    const turns = new Turns(1);
    let current = held(turns, 'a', 'first');
    const order: string[] = [];
    const second = turns.run(of('a', 'second'), () => Promise.resolve(order.push('a')), signal);
    for (const namespace of ['b', 'c', 'b', 'c']) {
      const next = held(turns, namespace);
      await current.giveBack();
      order.push(namespace);
      current = next;
    }
    await current.giveBack();
    await second;
    expect(order[0]).toBe('a');
  });

  test('pass on after a failure', async () => {
    const turns = new Turns(1);
    const failing = turns.run(of('a'), () => Promise.reject(new Error('broken')), signal);
    const next = turns.run(of('a'), () => Promise.resolve('done'), signal);
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
  });

  test('remove an aborted request from the line, and still serve the next one', async () => {
    const turns = new Turns(1);
    const stop = new AbortController();
    const first = held(turns, 'a');
    const waiting = turns.run(of('a'), () => Promise.resolve('never'), stop.signal);
    const last = turns.run(of('a'), () => Promise.resolve('last'), signal);
    stop.abort(new Error('no longer wanted'));
    await expect(waiting).rejects.toThrow('no longer wanted');
    await first.giveBack();
    expect(await last).toBe('last');
  });

  test('are given to all requests, in any order of arrivals, aborts and failures', async () => {
    const arrival = fc.record({
      namespace: fc.constantFrom('a', 'b', 'c'),
      name: fc.constantFrom('x', 'y'),
      leaves: fc.boolean(),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (all, atOnce) => {
        const turns = new Turns(atOnce);
        const running = new Map<string, number>();
        const ends = all.map(async ({ namespace, name, leaves, fails }) => {
          const stop = new AbortController();
          const work = async (): Promise<void> => {
            const key = `${namespace}/${name}`;
            running.set(key, (running.get(key) ?? 0) + 1);
            expect(running.get(key)).toBe(1);
            expect([...running.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(atOnce);
            await setImmediate();
            running.set(key, 0);
            if (fails) throw new Error('fails');
          };
          const end = turns.run({ namespace, name }, work, stop.signal);
          if (leaves) stop.abort(new Error('leaves'));
          return end.catch((error: unknown) => {
            if (!(error instanceof Error) || !['fails', 'leaves'].includes(error.message)) throw error;
          });
        });
        await Promise.all(ends);
        expect(turns.waiting).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
