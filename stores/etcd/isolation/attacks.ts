import type { Etcd3, IWatchResponse } from 'etcd3';
import type { Tenancy } from '../../driver.ts';
import { reaching } from '../../isolation/attempt.ts';
import type { Attempt } from '../../isolation/attempt.ts';

const everything = { start: Buffer.from([0]), end: Buffer.from([0]) };

/** The key that tells API servers of compaction: tenants read it and nothing beside it. */
const compaction = 'compact_rev_key';

/** Reads and writes beyond the own prefix; see docs of etcd's auth for what a permission covers. */
export function dataAttacks(client: Etcd3, own: string, victim: string): readonly Attempt[] {
  const victimKey = `/${victim}/a`;
  const range = (start: string | Buffer, end: string | Buffer): (() => Promise<unknown>) => {
    // One key is proof enough: a server that allows it may hold many.
    return () => client.getAll().inRange({ start, end }).limit(1).exec();
  };
  return reaching('tenants', [
    { name: 'get', run: () => client.get(victimKey).string() },
    { name: 'get the prefix without its last slash', run: () => client.get(`/${own}`).string() },
    { name: 'get the byte before the range', run: () => client.get(`/${own}.`).string() },
    { name: 'get the end of the range', run: () => client.get(`/${own}0`).string() },
    { name: 'range of the neighbour', run: range(`/${victim}/`, `/${victim}0`) },
    { name: 'range of everything', run: range(everything.start, everything.end) },
    { name: 'range from the own prefix on', run: range(`/${own}/`, everything.end) },
    { name: 'range one byte too long', run: range(`/${own}/`, `/${own}0\0`) },
    { name: 'range one byte too early', run: range(`/${own}`, `/${own}0`) },
    { name: 'count', run: () => client.getAll().prefix(`/${victim}/`).count() },
    { name: 'owners', run: () => client.getAll().prefix('steward.butlerlabs.dev/').limit(1).exec() },
    { name: 'put', run: () => client.put(victimKey).value('x').exec() },
    { name: 'delete', run: () => client.delete().key(victimKey).exec() },
    { name: 'txn that compares', run: () => client.if(victimKey, 'Create', '>', 0).then().commit() },
    {
      name: 'txn that reads',
      run: () => client.if(`/${own}/x`, 'Create', '==', 0).then(client.get(victimKey)).commit(),
    },
    {
      name: 'txn that puts in its other branch',
      run: () => client.if(`/${own}/a`, 'Create', '==', 0).then().else(client.put(victimKey).value('x')).commit(),
    },
    {
      name: 'put that tells the previous value',
      run: () => client.put(victimKey).value('x').getPrevious(),
    },
    { name: 'delete that tells the previous value', run: () => client.delete().key(victimKey).getPrevious() },
    { name: 'delete the range of the neighbour', run: () => client.delete().prefix(`/${victim}/`).exec() },
    {
      name: 'txn with a put that tells the previous value',
      run: () => {
        const put = { key: Buffer.from(victimKey), value: Buffer.from('x'), prev_kv: true };
        return client.kv.txn({ compare: [], success: [{ request_put: put }], failure: [] });
      },
    },
    {
      name: 'txn with a delete that tells the previous values',
      run: () => {
        const [key, range_end] = [Buffer.from(`/${victim}/`), Buffer.from(`/${victim}0`)];
        const all = { request_delete_range: { key, range_end, prev_kv: true } };
        return client.kv.txn({ compare: [], success: [all], failure: [] });
      },
    },
    { name: 'range beyond the key of compaction', run: range(compaction, `${compaction}\0\0`) },
    { name: 'get a key that begins like that of compaction', run: () => client.get(`${compaction}s`).string() },
    {
      name: 'nested txn that reads',
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
    { name: 'put at the end of the range', run: () => client.put(`/${own}0`).value('x').exec() },
    { name: 'put without a slash', run: () => client.put(`/${own}`).value('x').exec() },
    { name: 'delete everything', run: () => client.delete().all().exec() },
    { name: 'put the key of compaction', run: () => client.put(compaction).value('1000000').exec() },
    { name: 'delete the key of compaction', run: () => client.delete().key(compaction).exec() },
    {
      name: 'compact as API servers do',
      run: () => client.if(compaction, 'Version', '==', 0).then(client.put(compaction).value('0')).commit(),
    },
  ]);
}

/** Users and roles, the own and the neighbour's. */
export function adminAttacks(client: Etcd3, own: Tenancy, victim: Tenancy): readonly Attempt[] {
  const perm = { permType: 'Readwrite', key: Buffer.from('/'), range_end: Buffer.from('0') } as const;
  return reaching('tenants', [
    { name: 'user list', run: () => client.auth.userList() },
    { name: 'role list', run: () => client.auth.roleList() },
    { name: 'user delete', run: () => client.auth.userDelete({ name: victim.user }) },
    { name: 'user get', run: () => client.auth.userGet({ name: victim.user }) },
    { name: 'grant itself root', run: () => client.auth.userGrantRole({ user: own.user, role: 'root' }) },
    {
      name: "grant itself the victim's role",
      run: () => client.auth.userGrantRole({ user: own.user, role: victim.schema }),
    },
    { name: 'widen the own role', run: () => client.auth.roleGrantPermission({ name: own.schema, perm }) },
    { name: 'role get', run: () => client.auth.roleGet({ role: victim.schema }) },
    { name: 'role delete', run: () => client.auth.roleDelete({ role: victim.schema }) },
  ]);
}

/** Not included: the member list, which etcd returns to every user; it contains the addresses that a tenant gets anyway. */
export function serverAttacks(client: Etcd3): readonly Attempt[] {
  return reaching('server', [
    { name: 'auth disable', run: () => client.auth.authDisable() },
    { name: 'user add', run: () => client.auth.userAdd({ name: 'mallory', password: 'x' }) },
    { name: 'change password', run: () => client.auth.userChangePassword({ name: 'root', password: 'x' }) },
    { name: 'member add', run: () => client.cluster.memberAdd({ peerURLs: ['http://localhost:1'] }) },
    { name: 'disarm the alarms', run: () => client.maintenance.alarm({ action: 'Deactivate', alarm: 'Nospace' }) },
    { name: 'downgrade', run: () => client.maintenance.downgrade({ action: 'Validate', version: '3.5.0' }) },
    { name: 'member remove', run: () => client.cluster.memberRemove({ ID: '1' }) },
    { name: 'alarm', run: () => client.maintenance.alarm({ action: 'Activate', alarm: 'Nospace' }) },
    { name: 'compact', run: () => client.kv.compact({ revision: '1' }) },
    { name: 'defragment', run: () => client.maintenance.defragment() },
    { name: 'hash', run: () => client.maintenance.hash() },
    { name: 'move leader', run: () => client.maintenance.moveLeader({ targetID: '1' }) },
    {
      name: 'snapshot',
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

/** Watches of the neighbour's keys, of everything, and with the open end of CVE-2026-73499. */
export function watchAttacks(connect: () => Etcd3, own: string, victim: string): readonly Attempt[] {
  return [
    watchAttack(connect, 'watch a key', Buffer.from(`/${victim}/a`), Buffer.from(`/${victim}/a\0`)),
    watchAttack(connect, 'watch the neighbour', Buffer.from(`/${victim}/`), Buffer.from(`/${victim}0`)),
    watchAttack(connect, 'watch from the own prefix on', Buffer.from(`/${own}/`), everything.end),
    watchAttack(connect, 'watch everything', everything.start, everything.end),
    watchAttack(connect, 'watch from the key of compaction on', Buffer.from(compaction), everything.end),
  ];
}

/** `lease` is one of the victim's. */
export function leaseAttacks(client: Etcd3, own: string, lease: string): readonly Attempt[] {
  return reaching('tenants', [
    { name: 'read the keys of a lease', run: () => client.leaseClient.leaseTimeToLive({ ID: lease, keys: true }) },
    { name: 'list all leases', run: () => client.leaseClient.leaseLeases() },
    { name: 'revoke a lease', run: () => client.leaseClient.leaseRevoke({ ID: lease }) },
    { name: "put under the victim's lease", run: () => client.put(`/${own}/x`).lease(lease).value('x').exec() },
    {
      name: "txn that puts under the victim's lease",
      run: () => {
        const put = { key: Buffer.from(`/${own}/x`), value: Buffer.from('x'), lease };
        return client.kv.txn({ compare: [], success: [{ request_put: put }], failure: [] });
      },
    },
  ]);
}
