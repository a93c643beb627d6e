import { expect, test } from '@jest/globals';
import { reaching } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { runAttempts } from './run-attempts.ts';

class Refusal extends Error {}

const isRefusal = (error: unknown): boolean => error instanceof Refusal;
const refused = (name: string): Attempt => ({ name, reach: 'tenants', run: () => Promise.reject(new Refusal()) });
const allowed = (name: string): Attempt => ({ name, reach: 'tenants', run: () => Promise.resolve() });
const broken = (name: string): Attempt => ({ name, reach: 'tenants', run: () => Promise.reject(new Error('lost')) });

test('distinguishes what was allowed, what was refused and what proves nothing', async () => {
  const lanes = [[refused('a'), allowed('b')], [broken('c')]];
  expect(await runAttempts({ lanes }, { isRefusal })).toEqual({
    attempts: 3,
    breaches: ['b'],
    unclear: ['c: Error: lost'],
  });
});

test('makes only the chosen attempts, and none once it is over', async () => {
  const made: string[] = [];
  const noted = (attempt: Attempt): Attempt => ({
    ...attempt,
    run: () => {
      made.push(attempt.name);
      return attempt.run();
    },
  });
  const harmful = reaching('server', [allowed('shut down')]);
  const lanes = [[...harmful, refused('a'), allowed('b'), refused('c')].map(noted)];
  const result = await runAttempts(
    { lanes },
    {
      isRefusal,
      chooses: ({ reach }) => reach === 'tenants',
      isOver: ({ breaches }) => breaches.length > 0,
    },
  );
  expect(made).toEqual(['a', 'b']);
  expect(result).toEqual({ attempts: 2, breaches: ['b'], unclear: [] });
});

test('runs lanes side by side, and the attempts of a lane one after the other', async () => {
  const gate = Promise.withResolvers<undefined>();
  const order: string[] = [];
  const waits: Attempt = {
    name: 'waits',
    reach: 'tenants',
    run: async () => {
      order.push('waits');
      await gate.promise;
      throw new Refusal();
    },
  };
  const opens: Attempt = {
    name: 'opens',
    reach: 'tenants',
    run: () => {
      order.push('opens');
      gate.resolve(undefined);
      return Promise.reject(new Refusal());
    },
  };
  const last: Attempt = {
    name: 'last',
    reach: 'tenants',
    run: () => {
      order.push('last');
      return Promise.reject(new Refusal());
    },
  };
  await runAttempts({ lanes: [[waits, last], [opens]] }, { isRefusal });
  expect(order).toEqual(['waits', 'opens', 'last']);
});
