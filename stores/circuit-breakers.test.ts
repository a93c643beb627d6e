import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { CircuitBreakers } from './circuit-breakers.ts';
import { StoreError } from './store-error.ts';

const dead = new StoreError('Unreachable', 'nobody answers');
const minute = 60_000;

describe('The circuit breaker of a datastore', () => {
  test('is forgotten after a quarter of an hour without use', async () => {
    const clock = new FakeClock();
    const breakers = new CircuitBreakers(clock);
    for (let n = 0; n < 100; n += 1) breakers.admit(`gone-${n}`, false)(dead);
    expect(breakers.size).toBe(100);
    await clock.advance(15 * minute);
    breakers.admit('another', false)('answered');
    expect(breakers.size).toBe(1);
  });

  test('is retained for a dead datastore that is still probed', async () => {
    const clock = new FakeClock();
    const breakers = new CircuitBreakers(clock);
    for (let passed = 0; passed <= 30; passed += 10) {
      breakers.admit('dead', true)(dead);
      await clock.advance(10 * minute - 1_000);
      breakers.admit('another', false)('answered');
      await clock.advance(1_000);
    }
    breakers.admit('dead', true)(dead);
    expect(() => breakers.admit('dead', false)).toThrow(dead);
  });

  test('is retained while a use is in progress', async () => {
    const clock = new FakeClock();
    const breakers = new CircuitBreakers(clock);
    breakers.admit('slow', false)(dead);
    const end = breakers.admit('slow', true);
    await clock.advance(60 * minute);
    breakers.admit('another', false)('answered');
    expect(() => breakers.admit('slow', false)).toThrow(dead);
    end('answered');
    expect(() => breakers.admit('slow', false)).not.toThrow();
  });
});
