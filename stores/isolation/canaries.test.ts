import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { unsafeName } from '../etcd/names.ts';
import { unsafeNames } from '../mysql/names.ts';
import { isUnsafe } from '../nats/names.ts';
import { postgresNameProblem } from '../postgres/names.ts';
import { canaryPrefix, longestTenancyName, tenancyNameProblem } from '../tenancy-names.ts';
import { canaries } from './canaries.ts';

const passwords = { passwords: true };

test('are names that every driver takes and that no tenant can choose', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      for (const tenancy of canaries(id, passwords)) {
        expect(tenancy.schema).toMatch(new RegExp(`^${canaryPrefix}`));
        expect(tenancy.schema.length).toBeLessThanOrEqual(longestTenancyName);
        expect(tenancyNameProblem(tenancy.schema)).toMatch(/reserved/);
        expect([unsafeName(tenancy), unsafeNames(tenancy)]).toEqual([undefined, undefined]);
        expect([isUnsafe(tenancy), postgresNameProblem(tenancy, 'root')]).toEqual([false, undefined]);
      }
    }),
  );
});

test('follow from the datastore alone, with a new password in each run', () => {
  const [first] = canaries('one', passwords);
  const [again] = canaries('one', passwords);
  expect(again).toEqual({ ...first, password: again.password });
  expect(again.password).not.toBe(first.password);
  expect(again.password).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(canaries('one', { passwords: false })[0].password).toBeUndefined();
});

test('are different for different datastores, and none is a prefix of another', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (left, right) => {
      fc.pre(left !== right);
      const names = [...canaries(left, passwords), ...canaries(right, passwords)].map(({ schema }) => schema);
      expect(new Set(names).size).toBe(4);
      for (const name of names) expect(names.filter((other) => other !== name && other.startsWith(name))).toEqual([]);
    }),
  );
});

test('begin alike, so that a pattern whose underscores are wildcards matches both', () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const [first, second] = canaries(id, passwords);
      expect(second.schema).toMatch(new RegExp(`^${first.schema.replaceAll('_', '.')}$`));
      expect(second.schema).not.toBe(first.schema);
    }),
  );
});

test.each(['steward_canary_x', 'Steward_Canary_x'])('the name %s is refused for a tenant', (name) => {
  expect(tenancyNameProblem(name)).toBe(
    'begins with steward_canary_, which is reserved for verifying the isolation of tenants',
  );
});
