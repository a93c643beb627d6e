import { expect, test } from '@jest/globals';
import { detached } from './detached.ts';
import { silent } from './observe/logger.ts';

test('a detached promise is logged if it fails, and only then', async () => {
  const told: unknown[] = [];
  const log = { ...silent, error: (message: string, fields?: { error?: unknown }) => told.push([message, fields]) };
  const error = new Error('no route');
  detached(Promise.reject(error), log, 'closing a connection');
  detached(Promise.resolve(), log, 'closing another');
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual([['closing a connection failed', { error }]]);
});
