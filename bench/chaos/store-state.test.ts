import { expect, test } from '@jest/globals';

import { oddInStore } from './store-state.ts';
import type { StoreNames } from './store-state.ts';

const before: StoreNames = { users: ['root'], roles: ['root'], keys: ['compact_rev_key'] };
const tenant = (name: string) => ({ status: { storage: { setup: { schema: name, user: `${name}-user` } } } });

test('A store has the names of its tenants, and what was there before', () => {
  const now: StoreNames = {
    users: ['root', 'a-user', 'b-user'],
    roles: ['root', 'a', 'b'],
    keys: ['compact_rev_key', '/a/registry/x', '/owners/b'],
  };
  expect(oddInStore([tenant('a'), tenant('b')], now, before)).toEqual({ doubled: [], missing: [] });
});

test('What belongs to no tenant is doubled, and a tenant without a user misses it', () => {
  const now: StoreNames = {
    users: ['root', 'gone-user'],
    roles: ['root', 'gone'],
    keys: ['/ab/registry/x', '/a/registry/x'],
  };
  expect(oddInStore([tenant('a')], now, before)).toEqual({
    doubled: ['datastore: users gone-user', 'datastore: roles gone', 'datastore: keys /ab/registry/x'],
    missing: ['datastore: users a-user'],
  });
});
