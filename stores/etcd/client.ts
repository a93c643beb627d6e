import {
  EtcdRoleExistsError,
  EtcdRoleNotFoundError,
  EtcdRoleNotGrantedError,
  EtcdUserExistsError,
  EtcdUserNotFoundError,
  Range,
} from 'etcd3';
import type { Etcd3 } from 'etcd3';
import { EtcdConnection } from './connection.ts';
import type { EtcdTarget } from './connection.ts';
import { EtcdDataClient } from './data/data-client.ts';
import type { EtcdDataCalls } from './data/data-client.ts';
import { EtcdMaintenanceClient } from './defragmentation/maintenance-client.ts';
import type { EtcdMaintenanceCalls } from './defragmentation/maintenance-client.ts';
import type { Failure } from './errors.ts';
import type { MemberStatus } from './member-status.ts';
import type { KeyRange } from './range.ts';

/** What a member reports about itself. */
export interface LivingMember extends MemberStatus {
  readonly endpoint: string;
}

/** What a member reports about itself, or why it does not answer. */
export type MemberAnswer = LivingMember | { readonly endpoint: string; readonly failure: Failure };

/** A permission of a role. */
export interface Permission {
  readonly type: 'Read' | 'Write' | 'Readwrite';
  readonly range: KeyRange;
}

/**
 * The calls that an administrator of tenancies makes to etcd. Import it lazily: the library below is large. Throws
 * `StoreError`.
 */
export class EtcdClient implements AsyncDisposable {
  /** The calls that a copy of a tenant's data makes. */
  readonly data: EtcdDataCalls;
  /** The calls for the maintenance of members. */
  readonly maintenance: EtcdMaintenanceCalls;
  readonly #connection: EtcdConnection;

  constructor(target: EtcdTarget) {
    this.#connection = new EtcdConnection(target);
    this.data = new EtcdDataClient(this.#connection);
    this.maintenance = new EtcdMaintenanceClient(this.#connection);
  }

  /** Calls every member concurrently. */
  async members(): Promise<readonly MemberAnswer[]> {
    const answers = await this.#connection.statuses();
    return answers.map((answer) => ('failure' in answer ? answer : { endpoint: answer.endpoint, ...answer.response }));
  }

  /** True when authentication is enabled. Requires consensus: it answers only while there is a quorum. */
  async authEnabled(): Promise<boolean> {
    return (await this.#call('check whether authentication is enabled', (client) => client.auth.authStatus())).enabled;
  }

  async enableAuth(): Promise<void> {
    await this.#call('enable authentication', (client) => client.auth.authEnable());
  }

  /** The roles of a user; undefined when there is no such user. */
  async user(name: string): Promise<readonly string[] | undefined> {
    const attempt = `read user ${name}`;
    return (await this.#call(attempt, (client) => absent(client.auth.userGet({ name }), EtcdUserNotFoundError)))?.roles;
  }

  /** Adds a user who has no password: only a client certificate with this common name is the user. */
  async addUser(name: string): Promise<void> {
    const request = { name, password: '', options: { no_password: true } };
    await this.#call(`add user ${name}`, (client) => absent(client.auth.userAdd(request), EtcdUserExistsError));
  }

  async deleteUser(name: string): Promise<void> {
    await this.#call(`delete user ${name}`, (client) =>
      absent(client.auth.userDelete({ name }), EtcdUserNotFoundError),
    );
  }

  /** The permissions of a role; undefined when there is no such role. */
  async role(name: string): Promise<readonly Permission[] | undefined> {
    const answer = await this.#call(`read role ${name}`, (client) =>
      absent(client.auth.roleGet({ role: name }), EtcdRoleNotFoundError),
    );
    return answer?.perm.map((one) => ({ type: one.permType, range: { start: one.key, end: one.range_end } }));
  }

  async addRole(name: string): Promise<void> {
    await this.#call(`add role ${name}`, (client) => absent(client.auth.roleAdd({ name }), EtcdRoleExistsError));
  }

  async deleteRole(name: string): Promise<void> {
    await this.#call(`delete role ${name}`, (client) =>
      absent(client.auth.roleDelete({ role: name }), EtcdRoleNotFoundError),
    );
  }

  async grantPermission(role: string, permission: Permission): Promise<void> {
    const perm = { permType: permission.type, key: permission.range.start, range_end: permission.range.end };
    await this.#call(`grant keys to role ${role}`, (client) => client.auth.roleGrantPermission({ name: role, perm }));
  }

  async revokePermission(role: string, { start, end }: KeyRange): Promise<void> {
    const request = { role, key: start, range_end: end };
    await this.#call(`revoke keys from role ${role}`, (client) => client.auth.roleRevokePermission(request));
  }

  async grantRole(user: string, role: string): Promise<void> {
    await this.#call(`grant role ${role} to user ${user}`, (client) => client.auth.userGrantRole({ user, role }));
  }

  async revokeRole(user: string, role: string): Promise<void> {
    const revoke = (client: Etcd3) => absent(client.auth.userRevokeRole({ name: user, role }), EtcdRoleNotGrantedError);
    await this.#call(`revoke role ${role} from user ${user}`, revoke);
  }

  /** The value of a key; undefined when it is not there. */
  async get(key: string): Promise<string | undefined> {
    return (await this.#call(`read ${key}`, (client) => client.get(key).string())) ?? undefined;
  }

  /** Writes all entries, or none if one of the keys exists; returns whether it wrote. */
  async createAll(entries: readonly (readonly [key: string, value: string])[]): Promise<boolean> {
    const answer = await this.#call('record the owner', (client) => {
      const [first, ...rest] = entries;
      if (first === undefined) throw new RangeError('nothing to create');
      let condition = client.if(first[0], 'Create', '==', 0);
      for (const [key] of rest) condition = condition.and(key, 'Create', '==', 0);
      return condition.then(...entries.map(([key, value]) => client.put(key).value(value))).commit();
    });
    return answer.succeeded;
  }

  /** Writes a key if it has the value `before`, or is absent if that is undefined; returns whether it did. */
  async replace(
    key: string,
    { before, after }: { readonly before: string | undefined; readonly after: string },
  ): Promise<boolean> {
    const answer = await this.#call(`write ${key}`, (client) => {
      const condition =
        before === undefined ? client.if(key, 'Create', '==', 0) : client.if(key, 'Value', '==', before);
      return condition.then(client.put(key).value(after)).commit();
    });
    return answer.succeeded;
  }

  async deleteKeys(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#call(`delete ${key}`, (client) => client.delete().key(key).exec());
  }

  /** Number of keys in a range. */
  async count(range: KeyRange): Promise<number> {
    return this.#call('count keys', (client) => client.getAll().inRange(rangeOf(range)).count());
  }

  /** The first keys of a range, in order of their bytes. */
  async keys(range: KeyRange, limit: number): Promise<readonly Buffer[]> {
    return this.#call('list keys', (client) => client.getAll().inRange(rangeOf(range)).limit(limit).keyBuffers());
  }

  async deleteRange(range: KeyRange): Promise<void> {
    await this.#call('delete keys', (client) => client.delete().range(rangeOf(range)).exec());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  #call<T>(attempt: string, run: (client: Etcd3) => PromiseLike<T>): Promise<T> {
    return this.#connection.call(attempt, run);
  }
}

/** The calls of the client, as an interface that tests can implement. */
export type EtcdCalls = Pick<EtcdClient, keyof EtcdClient>;

/** The answer, or undefined for the expected error, e.g. that something does not exist or exists already. */
async function absent<T>(
  answer: Promise<T>,
  expected: abstract new (...parameters: never[]) => Error,
): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof expected) return undefined;
    throw error;
  }
}

function rangeOf(range: KeyRange): Range {
  return new Range(range.start, range.end);
}
