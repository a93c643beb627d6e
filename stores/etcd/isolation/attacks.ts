import type { Etcd3, IWatchResponse } from 'etcd3';
import type { Tenancy } from '../../driver.ts';
import { reaching } from '../../isolation/attempt.ts';
import type { Attempt } from '../../isolation/attempt.ts';

const everything = { start: Buffer.from([0]), end: Buffer.from([0]) };

/** The key through which API servers learn of compaction: tenants read it and nothing beside it. */
const compaction = 'compact_rev_key';

/** Reads and writes beyond the own prefix; see docs of etcd's auth for what a permission covers. */
export function dataAttacks(client: Etcd3, own: string, victim: string): readonly Attempt[] {
  const victimKey = `/${victim}/a`;
  const range = (start: string | Buffer, end: string | Buffer): (() => Promise<unknown>) => {
    // One key is proof enough: a server that allows it may hold many.
    return () => client.getAll().inRange({ start, end }).limit(1).exec();
  };
  return reaching('tenants', [
    { name: 'read a key of another tenant', run: () => client.get(victimKey).string() },
    { name: 'read the key before the own prefix', run: () => client.get(`/${own}`).string() },
    { name: 'read a key just before the own prefix', run: () => client.get(`/${own}.`).string() },
    { name: 'read the key just after the own prefix', run: () => client.get(`/${own}0`).string() },
    { name: 'list the keys of another tenant', run: range(`/${victim}/`, `/${victim}0`) },
    { name: 'list all keys', run: range(everything.start, everything.end) },
    { name: 'list all keys from the own prefix on', run: range(`/${own}/`, everything.end) },
    { name: 'list one key beyond the own prefix', run: range(`/${own}/`, `/${own}0\0`) },
    { name: 'list one key before the own prefix', run: range(`/${own}`, `/${own}0`) },
    { name: 'count the keys of another tenant', run: () => client.getAll().prefix(`/${victim}/`).count() },
    {
      name: 'read the ownership records',
      run: () => client.getAll().prefix('steward.butlerlabs.dev/').limit(1).exec(),
    },
    { name: 'write a key of another tenant', run: () => client.put(victimKey).value('x').exec() },
    { name: 'delete a key of another tenant', run: () => client.delete().key(victimKey).exec() },
    {
      name: 'compare a key of another tenant in a transaction',
      run: () => client.if(victimKey, 'Create', '>', 0).then().commit(),
    },
    {
      name: 'read a key of another tenant in a transaction',
      run: () => client.if(`/${own}/x`, 'Create', '==', 0).then(client.get(victimKey)).commit(),
    },
    {
      name: 'write a key of another tenant in the other branch of a transaction',
      run: () => client.if(`/${own}/a`, 'Create', '==', 0).then().else(client.put(victimKey).value('x')).commit(),
    },
    {
      name: 'write a key of another tenant and get its previous value',
      run: () => client.put(victimKey).value('x').getPrevious(),
    },
    {
      name: 'delete a key of another tenant and get its previous value',
      run: () => client.delete().key(victimKey).getPrevious(),
    },
    { name: 'delete all keys of another tenant', run: () => client.delete().prefix(`/${victim}/`).exec() },
    {
      name: 'write a key of another tenant in a transaction and get its previous value',
      run: () => {
        const put = { key: Buffer.from(victimKey), value: Buffer.from('x'), prev_kv: true };
        return client.kv.txn({ compare: [], success: [{ request_put: put }], failure: [] });
      },
    },
    {
      name: 'delete all keys of another tenant in a transaction and get their previous values',
      run: () => {
        const [key, range_end] = [Buffer.from(`/${victim}/`), Buffer.from(`/${victim}0`)];
        const all = { request_delete_range: { key, range_end, prev_kv: true } };
        return client.kv.txn({ compare: [], success: [all], failure: [] });
      },
    },
    { name: 'list keys beyond the compaction key', run: range(compaction, `${compaction}\0\0`) },
    { name: 'read a key that begins like the compaction key', run: () => client.get(`${compaction}s`).string() },
    {
      name: 'read a key of another tenant in a nested transaction',
      run: async () => {
        const read = { request_range: { key: Buffer.from(victimKey) } };
        const nested = { request_txn: { compare: [], success: [read], failure: [] } };
        return client.if(`/${own}/x`, 'Create', '==', 0).then(nested).commit();
      },
    },
  ]);
}

/** Writes beside the own prefix, to every tenant's keys, and to what the API servers of all tenants read. */
export function sharedDataAttacks(client: Etcd3, own: string): readonly Attempt[] {
  return reaching('server', [
    { name: 'write the key just after the own prefix', run: () => client.put(`/${own}0`).value('x').exec() },
    { name: 'write the key before the own prefix', run: () => client.put(`/${own}`).value('x').exec() },
    { name: 'delete all keys', run: () => client.delete().all().exec() },
    { name: 'write the compaction key', run: () => client.put(compaction).value('1000000').exec() },
    { name: 'delete the compaction key', run: () => client.delete().key(compaction).exec() },
    {
      name: 'write the compaction key in a transaction, as API servers do',
      run: () => client.if(compaction, 'Version', '==', 0).then(client.put(compaction).value('0')).commit(),
    },
  ]);
}

/** Users and roles, the own and the neighbor's. */
export function adminAttacks(client: Etcd3, own: Tenancy, victim: Tenancy): readonly Attempt[] {
  const perm = { permType: 'Readwrite', key: Buffer.from('/'), range_end: Buffer.from('0') } as const;
  return reaching('tenants', [
    { name: 'list the users', run: () => client.auth.userList() },
    { name: 'list the roles', run: () => client.auth.roleList() },
    { name: 'delete the user of another tenant', run: () => client.auth.userDelete({ name: victim.user }) },
    { name: 'read the user of another tenant', run: () => client.auth.userGet({ name: victim.user }) },
    { name: 'grant itself the role root', run: () => client.auth.userGrantRole({ user: own.user, role: 'root' }) },
    {
      name: 'grant itself the role of another tenant',
      run: () => client.auth.userGrantRole({ user: own.user, role: victim.schema }),
    },
    { name: 'widen the own role', run: () => client.auth.roleGrantPermission({ name: own.schema, perm }) },
    { name: 'read the role of another tenant', run: () => client.auth.roleGet({ role: victim.schema }) },
    { name: 'delete the role of another tenant', run: () => client.auth.roleDelete({ role: victim.schema }) },
  ]);
}

/** Not included: the member list, which etcd returns to every user; it contains the addresses that a tenant gets anyway. */
export function serverAttacks(client: Etcd3): readonly Attempt[] {
  return reaching('server', [
    { name: 'disable authentication', run: () => client.auth.authDisable() },
    { name: 'add a user', run: () => client.auth.userAdd({ name: 'mallory', password: 'x' }) },
    { name: 'change the password of root', run: () => client.auth.userChangePassword({ name: 'root', password: 'x' }) },
    { name: 'add a member', run: () => client.cluster.memberAdd({ peerURLs: ['http://localhost:1'] }) },
    { name: 'disarm the alarms', run: () => client.maintenance.alarm({ action: 'Deactivate', alarm: 'Nospace' }) },
    { name: 'validate a downgrade', run: () => client.maintenance.downgrade({ action: 'Validate', version: '3.5.0' }) },
    { name: 'remove a member', run: () => client.cluster.memberRemove({ ID: '1' }) },
    { name: 'raise an alarm', run: () => client.maintenance.alarm({ action: 'Activate', alarm: 'Nospace' }) },
    { name: 'compact the history', run: () => client.kv.compact({ revision: '1' }) },
    { name: 'defragment the member', run: () => client.maintenance.defragment() },
    { name: 'compute the hash of the member', run: () => client.maintenance.hash() },
    { name: 'move the leader', run: () => client.maintenance.moveLeader({ targetID: '1' }) },
    {
      name: 'take a snapshot',
      run: async () => {
        const stream = await client.maintenance.snapshot();
        return new Promise((resolve, reject) => {
          stream.on('data', resolve).on('error', reject);
        });
      },
    },
  ]);
}

/** Succeeds when the watch is taken or delivers anything. */
function watchAttack(connect: () => Etcd3, name: string, start: Buffer, end: Buffer): Attempt {
  return {
    name,
    reach: 'tenants',
    run: async () => {
      // The library gives a connection up on which a stream failed.
      const client = connect();
      try {
        return await firstResponse(await client.watchClient.watch(), { key: start, range_end: end });
      } finally {
        client.close();
      }
    },
  };
}

type Watching = Awaited<ReturnType<Etcd3['watchClient']['watch']>>;

/** What a watch says first; rejects when it is refused. */
async function firstResponse(
  stream: Watching,
  range: { readonly key: Buffer; readonly range_end: Buffer },
): Promise<unknown> {
  try {
    return await new Promise((resolve, reject) => {
      stream.on('error', reject);
      stream.on('data', (said: IWatchResponse) => {
        if (said.canceled) reject(new Error(said.cancel_reason));
        else resolve(said);
      });
      stream.write({ create_request: { ...range, progress_notify: true, prev_kv: true } });
    });
  } finally {
    stream.cancel();
  }
}

/** Watches of the neighbor's keys, of everything, and with the open end of CVE-2026-73499. */
export function watchAttacks(connect: () => Etcd3, own: string, victim: string): readonly Attempt[] {
  return [
    watchAttack(connect, 'watch a key of another tenant', Buffer.from(`/${victim}/a`), Buffer.from(`/${victim}/a\0`)),
    watchAttack(connect, 'watch the keys of another tenant', Buffer.from(`/${victim}/`), Buffer.from(`/${victim}0`)),
    watchAttack(connect, 'watch all keys from the own prefix on', Buffer.from(`/${own}/`), everything.end),
    watchAttack(connect, 'watch all keys', everything.start, everything.end),
    watchAttack(connect, 'watch all keys from the compaction key on', Buffer.from(compaction), everything.end),
  ];
}

/** `lease` is one of the victim's. */
export function leaseAttacks(client: Etcd3, own: string, lease: string): readonly Attempt[] {
  return reaching('tenants', [
    {
      name: 'read the keys of a lease of another tenant',
      run: () => client.leaseClient.leaseTimeToLive({ ID: lease, keys: true }),
    },
    { name: 'list all leases', run: () => client.leaseClient.leaseLeases() },
    { name: 'revoke a lease of another tenant', run: () => client.leaseClient.leaseRevoke({ ID: lease }) },
    {
      name: 'write a key with a lease of another tenant',
      run: () => client.put(`/${own}/x`).lease(lease).value('x').exec(),
    },
    {
      name: 'write a key with a lease of another tenant in a transaction',
      run: () => {
        const put = { key: Buffer.from(`/${own}/x`), value: Buffer.from('x'), lease };
        return client.kv.txn({ compare: [], success: [{ request_put: put }], failure: [] });
      },
    },
  ]);
}
