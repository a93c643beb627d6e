import { describe, expect, test } from '@jest/globals';
import { createIssuerPool } from './issuer-pool.ts';

describe('createIssuerPool', () => {
  test('runs no more jobs at once than its limit, in the order of arrival', async () => {
    const pool = createIssuerPool(2);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const job = async (id: number): Promise<number> => {
      order.push(id);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return id;
    };
    const ids = [1, 2, 3, 4, 5];
    expect(await Promise.all(ids.map((id) => pool.run(() => job(id))))).toEqual(ids);
    expect(order).toEqual(ids);
    expect(most).toBe(2);
  });

  test('frees the slot of a failed job', async () => {
    const pool = createIssuerPool(1);
    await expect(pool.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(pool.run(() => Promise.resolve('next'))).resolves.toBe('next');
  });

  test('refuses an invalid limit', () => {
    expect(() => createIssuerPool(0)).toThrow('limit must be a whole number of at least 1, not 0');
  });
});
