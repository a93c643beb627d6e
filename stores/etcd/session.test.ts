import { describe, expect, test } from '@jest/globals';
import type { EtcdCalls, MemberAnswer } from './client.ts';
import { EtcdSession } from './session.ts';
import { etcdFloor } from './version.ts';

const done = (): Promise<void> => Promise.resolve();
const unasked = (): Promise<never> => Promise.reject(new Error('no copy was asked for'));

/** An etcd with authentication and nothing in it. */
function calls(over: Partial<EtcdCalls> = {}): EtcdCalls {
  return {
    members: () => Promise.resolve([]),
    authEnabled: () => Promise.resolve(true),
    enableAuth: done,
    user: (name) => Promise.resolve(name === 'root' ? ['root'] : undefined),
    addUser: done,
    deleteUser: done,
    role: () => Promise.resolve(undefined),
    addRole: done,
    deleteRole: done,
    grantPermission: done,
    revokePermission: done,
    grantRole: done,
    revokeRole: done,
    get: () => Promise.resolve(undefined),
    createAll: () => Promise.resolve(true),
    replace: () => Promise.resolve(true),
    deleteKeys: done,
    count: () => Promise.resolve(0),
    keys: () => Promise.resolve([]),
    deleteRange: done,
    data: {
      count: unasked,
      page: unasked,
      write: unasked,
      touch: unasked,
      grantLease: unasked,
      leaseSeconds: unasked,
      watch: unasked,
    },
    maintenance: {
      listMembers: unasked,
      alarms: unasked,
      disarm: unasked,
      compact: unasked,
      requireInSync: unasked,
      defragment: unasked,
      lock: unasked,
      unlock: unasked,
    },
    [Symbol.asyncDispose]: done,
    ...over,
  };
}

const member = (version: string, over: Partial<MemberAnswer> = {}): MemberAnswer => ({
  ...{ endpoint: `${version}:2379`, version, storageVersion: '3.6.0', revision: 1n },
  ...{ memberId: '1', leaderId: '1', isLearner: false },
  ...{ sizeBytes: 7, inUseBytes: 7, quotaBytes: 100 },
  ...over,
});

describe('ping', () => {
  test('reports a cluster as too old when one member is, and names that version', async () => {
    const session = new EtcdSession(calls({ members: () => Promise.resolve([member('3.6.16'), member('3.6.13')]) }));
    await expect(session.ping()).resolves.toMatchObject({
      version: '3.6.13',
      supported: false,
      floor: etcdFloor,
    });
  });

  test('reports a member without a leader and one that does not answer', async () => {
    const error = new Error(
      '14 UNAVAILABLE: No connection established. Last error: Error: connect ECONNREFUSED 10.0.0.1:2379. Resolution note: ',
    );
    const failed: MemberAnswer = { endpoint: 'gone:2379', failure: { endpoint: 'gone:2379', error } };
    const session = new EtcdSession(
      calls({ members: () => Promise.resolve([member('3.6.16', { leaderId: '0' }), failed]) }),
    );
    const { notes } = await session.ping();
    expect(notes).toEqual([
      '3.6.16:2379 has no leader',
      'etcd does not answer: gone:2379: connect ECONNREFUSED 10.0.0.1:2379',
    ]);
  });

  test('reports the version of the data that all members have, and members that differ', async () => {
    const newer = member('3.7.3', { storageVersion: '3.7.0' });
    const session = new EtcdSession(calls({ members: () => Promise.resolve([newer, member('3.6.16')]) }));
    await expect(session.ping()).resolves.toMatchObject({
      storageVersion: '3.6',
      notes: ['3.7.3:2379 runs version 3.7.3', '3.6.16:2379 runs version 3.6.16'],
    });
  });

  test('reports no version of the data when a member does not say it', async () => {
    const older = member('3.5.35', { storageVersion: '' });
    const session = new EtcdSession(calls({ members: () => Promise.resolve([member('3.6.16'), older]) }));
    expect(await session.ping()).not.toHaveProperty('storageVersion');
  });

  test('reports a member that uses four fifths of its quota', async () => {
    const full = member('3.6.16', { sizeBytes: 80 });
    const session = new EtcdSession(calls({ members: () => Promise.resolve([full]) }));
    expect((await session.ping()).notes).toEqual(['3.6.16:2379 uses 80% of its quota']);
  });
});

describe('ensure', () => {
  const tenancy = { schema: 'a', user: 'u', owner: 'uid' };
  const own = (): Promise<string> => Promise.resolve(JSON.stringify({ owner: 'uid', schema: 'a', user: 'u' }));

  test('revokes every role of another tenant from the user', async () => {
    const said: string[] = [];
    const session = new EtcdSession(
      calls({
        get: (key) => (key.includes('/tenancies/') ? own() : Promise.resolve(undefined)),
        user: () => Promise.resolve(['victim', 'a', 'root']),
        grantRole: (user, role) => Promise.resolve(void said.push(`grant ${user} ${role}`)),
        revokeRole: (user, role) => Promise.resolve(void said.push(`revoke ${user} ${role}`)),
      }),
    );
    await session.ensure(tenancy);
    expect(said).toEqual(['revoke u victim', 'revoke u root']);
  });

  test('creates nothing in an etcd without authentication', async () => {
    const touched = (): Promise<never> => Promise.reject(new Error('nothing must be made'));
    const session = new EtcdSession(
      calls({ authEnabled: () => Promise.resolve(false), createAll: touched, addUser: touched, addRole: touched }),
    );
    await expect(session.ensure(tenancy)).rejects.toThrow(/authentication is disabled in etcd/);
  });
});

describe('remove', () => {
  test('changes nothing if another owner has the names', async () => {
    const said: string[] = [];
    const touch = (what: string) => () => Promise.resolve(void said.push(what));
    const session = new EtcdSession(
      calls({
        get: () => Promise.resolve(JSON.stringify({ owner: 'another', schema: 'a', user: 'u' })),
        deleteUser: touch('user'),
        deleteRole: touch('role'),
        deleteRange: touch('keys'),
        deleteKeys: touch('records'),
      }),
    );
    await session.remove({ schema: 'a', user: 'u', owner: 'uid' });
    expect(said).toEqual([]);
  });

  test('removes access first, deletes keys in pages, and the records of fence, writer and owner last', async () => {
    const names = Array.from({ length: 2500 }, (_, index) => Buffer.from(`/a/${String(index).padStart(5, '0')}`));
    const said: string[] = [];
    const record = JSON.stringify({ owner: 'uid', schema: 'a', user: 'u' });
    const session = new EtcdSession(
      calls({
        get: () => Promise.resolve(record),
        deleteUser: (name) => Promise.resolve(void said.push(`user ${name}`)),
        deleteRole: (name) => Promise.resolve(void said.push(`role ${name}`)),
        count: () => Promise.resolve(names.length),
        keys: (_, limit) => Promise.resolve(names.slice(0, limit)),
        deleteRange: ({ end }) => {
          const gone = names.filter((name) => Buffer.compare(name, end) < 0).length;
          names.splice(0, gone);
          return Promise.resolve(void said.push(`${gone} keys`));
        },
        deleteKeys: (keys) => Promise.resolve(void said.push(`${keys.length} records`)),
      }),
    );
    await session.remove({ schema: 'a', user: 'u', owner: 'uid' });
    expect(said).toEqual(['user u', 'role a', '1000 keys', '1000 keys', '500 keys', '3 records', '2 records']);
  });

  test('retains the ownership record while keys reappear', async () => {
    const session = new EtcdSession(
      calls({
        get: () => Promise.resolve(JSON.stringify({ owner: 'uid', schema: 'a', user: 'u' })),
        count: () => Promise.resolve(3),
        deleteKeys: () => Promise.reject(new Error('the record must stay')),
      }),
    );
    const removal = session.remove({ schema: 'a', user: 'u', owner: 'uid' });
    await expect(removal).rejects.toThrow(/not removed yet: 3 keys under \/a\//);
  });

  test('says how to fix a record that cannot be read', async () => {
    const session = new EtcdSession(calls({ get: () => Promise.resolve('[]') }));
    const removal = session.remove({ schema: 'a', user: 'u', owner: 'uid' });
    await expect(removal).rejects.toThrow(/ownership record at etcd key .* cannot be read/);
  });
});
