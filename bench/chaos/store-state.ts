import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { EtcdServer } from '../../testing/servers/etcd-server.ts';
import { canaryPrefix } from '../../stores/tenancy-names.ts';
import type { OddOnes } from './odd-ones.ts';

/** Names in an etcd. */
export interface StoreNames {
  readonly users: readonly string[];
  readonly roles: readonly string[];
  readonly keys: readonly string[];
}

/** All names in an etcd, without the canaries, which come and go with each verification. */
export async function storeNames(server: EtcdServer): Promise<StoreNames> {
  const lines = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await server.control(...words)).split('\n').filter((line) => line !== '' && !line.includes(canaryPrefix));
  return {
    users: await lines('user', 'list'),
    roles: await lines('role', 'list'),
    keys: await lines('get', '', '--prefix', '--keys-only'),
  };
}

/** What is in an etcd of no tenant, and what is not there of one. @param before what was there before the first tenant. */
export function oddInStore(
  tenants: readonly Pick<TenantControlPlane, 'status'>[],
  now: StoreNames,
  before: StoreNames,
): OddOnes {
  const schemas = new Set(tenants.flatMap(({ status }) => status?.storage?.setup?.schema ?? []));
  const users = new Set(tenants.flatMap(({ status }) => status?.storage?.setup?.user ?? []));
  const isKnown = (text: string): boolean => text.split('/').some((part) => schemas.has(part) || users.has(part));
  const unknown = (names: keyof StoreNames): readonly string[] => {
    const known = new Set(before[names]);
    return now[names].filter((name) => !known.has(name) && !isKnown(name)).map((name) => `datastore: ${names} ${name}`);
  };
  const found = new Set(now.users);
  return {
    doubled: [...unknown('users'), ...unknown('roles'), ...unknown('keys')],
    missing: [...users].filter((user) => !found.has(user)).map((user) => `datastore: users ${user}`),
  };
}
