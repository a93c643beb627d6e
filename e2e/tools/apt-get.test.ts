import { describe, expect, test } from '@jest/globals';
import { aptGet } from './apt-get.ts';

/** Fails so often with this message, then succeeds. */
const failing = (times: number, message: string) => {
  const seen = { calls: 0, waited: 0 };
  const execute = (): Promise<string> => {
    seen.calls += 1;
    return seen.calls <= times ? Promise.reject(new Error(message)) : Promise.resolve('');
  };
  const wait = (ms: number): Promise<void> => {
    seen.waited += ms;
    return Promise.resolve();
  };
  return { seen, run: () => aptGet(['update', '-qq'], execute, wait) };
};

const locked = 'Command failed: apt-get update\nE: Could not get lock /var/lib/apt/lists/lock. It is held by process 7';

describe('aptGet', () => {
  test('waits while another process holds a lock', async () => {
    const { seen, run } = failing(3, locked);
    await run();
    expect(seen).toEqual({ calls: 4, waited: 6000 });
  });

  test('fails after ten minutes of waiting', async () => {
    const { seen, run } = failing(Infinity, locked);
    await expect(run()).rejects.toThrow('Could not get lock');
    expect(seen.waited).toBeCloseTo(600_000, -4);
  });

  test('fails at once for any other reason', async () => {
    const { seen, run } = failing(1, 'E: Unable to locate package socat');
    await expect(run()).rejects.toThrow('Unable to locate');
    expect(seen).toEqual({ calls: 1, waited: 0 });
  });
});
