import { describe, expect, test } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LatestHeld } from './latest-held.ts';

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  for (let pass = 0; pass < 3; pass += 1) await collect({ execution: 'async', type: 'major' });
}

interface Value {
  readonly of: string;
}

describe('The latest values that somebody holds', () => {
  const made = (text: string): Value => ({ of: text });

  test('are made once while they are held, and are not kept for that', async () => {
    const latest = new LatestHeld<Value>(4);
    const held = latest.of('a', made);
    const dropped = new WeakRef(latest.of('b', made));
    await collectGarbage();
    expect(latest.of('a', made)).toBe(held);
    expect(dropped.deref()).toBeUndefined();
    expect(latest.of('b', made)).toEqual({ of: 'b' });
  });

  test('are at most so many, and not what could not be made', () => {
    const latest = new LatestHeld<Value>(1);
    const fail = (): Value => {
      throw new Error('no');
    };
    expect(() => latest.of('a', fail)).toThrow('no');
    const held = latest.of('a', made);
    expect(latest.of('a', fail)).toBe(held);
    latest.of('b', made);
    expect(() => latest.of('a', fail)).toThrow('no');
  });
});
