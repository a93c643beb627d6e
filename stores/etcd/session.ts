import { compare, parse } from 'semver';
import type { CompactionRequest, CompactionStep } from '../compaction.ts';
import type { DefragmentationRequest, DefragmentationStep } from '../defragmentation.ts';
import type { ServerState, Session, Tenancy, TenancySize } from '../driver.ts';
import { foreignError, unrecordedError } from '../ownership-error.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { EtcdCalls, LivingMember, MemberAnswer } from './client.ts';
import { publishCompaction } from './compaction.ts';
import { EtcdData } from './data/data.ts';
import { defragmentNext } from './defragmentation/defragment.ts';
import { compactEarly } from './early-compaction/compact-early.ts';
import { unavailableError } from './errors.ts';
import { measureKeys } from './data/measure-keys.ts';
import { EtcdWriteCounters } from './data/write-counters.ts';
import { forgetFence, rightfulPermissions } from './data/fence.ts';
import { readOwnership, recordOwnership, releaseOwnership } from './ownership.ts';
import { refuseUnsafeNames, unsafeName } from './names.ts';
import { tenancyRange } from './range.ts';
import type { KeyRange } from './range.ts';
import { etcdFloor, isSupportedEtcd } from './version.ts';

const pageOfKeys = 1000;
const purgeRounds = 5;

/** An administrative connection to one etcd cluster. */
export class EtcdSession implements Session {
  readonly #client: EtcdCalls;
  readonly #writes: EtcdWriteCounters;

  constructor(client: EtcdCalls) {
    this.#client = client;
    this.#writes = new EtcdWriteCounters(client.data);
  }

  async ping(): Promise<ServerState> {
    await this.#writes.endIdle();
    const answers = await this.#client.members();
    const alive = answers.filter((answer) => 'version' in answer);
    const failures = answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []));
    if (alive.length === 0) throw unavailableError(failures);
    await this.#requireAuth();
    // Only an administrator may read this, and only a cluster with a leader answers.
    if ((await this.#client.user('root')) === undefined) {
      throw new StoreError('Unauthorized', 'etcd has no user root: create it with role root and enable authentication');
    }
    // One member below the floor is enough for a leak, because every member serves watches.
    const lowest = alive.find((answer) => !isSupportedEtcd(answer.version)) ?? alive[0];
    return {
      version: lowest?.version ?? '',
      supported: alive.every((answer) => isSupportedEtcd(answer.version)),
      floor: etcdFloor,
      sizeBytes: Math.max(...alive.map((answer) => answer.sizeBytes)),
      ...storageVersionOf(alive),
      ...notesOf(answers),
    };
  }

  async publishCompaction(): Promise<void> {
    await publishCompaction(this.#client);
  }

  async compactEarly(request: CompactionRequest): Promise<CompactionStep> {
    return compactEarly(this.#client, request);
  }

  async ensure(tenancy: Tenancy): Promise<void> {
    refuseUnsafeNames(tenancy);
    await this.#requireAuth();
    await this.#claim(tenancy);
    const { schema, user } = tenancy;
    const [roles, permissions] = await Promise.all([this.#client.user(user), this.#client.role(schema)]);
    await Promise.all([
      roles === undefined ? this.#client.addUser(user) : undefined,
      permissions === undefined ? this.#client.addRole(schema) : undefined,
    ]);
    // The right permission is granted before wrong ones are revoked, so that a running tenant never loses access.
    const rights = await rightfulPermissions(this.#client, schema, permissions ?? []);
    for (const right of rights) {
      const isGranted = permissions?.some((one) => one.type === right.type && same(one.range, right.range)) === true;
      if (!isGranted) await this.#client.grantPermission(schema, right);
    }
    for (const { range: other } of permissions ?? []) {
      if (!rights.some((right) => same(other, right.range))) await this.#client.revokePermission(schema, other);
    }
    if (!(roles ?? []).includes(schema)) await this.#client.grantRole(user, schema);
    for (const role of roles ?? []) if (role !== schema) await this.#client.revokeRole(user, role);
  }

  async remove(tenancy: Tenancy): Promise<void> {
    // Such names are never given a tenancy, so there is none to remove.
    if (unsafeName(tenancy) !== undefined && tenancy.adopt !== true) return;
    refuseUnsafeNames(tenancy);
    const ownership = await readOwnership(this.#client, tenancy);
    if (ownership.is === 'foreign') return;
    if (ownership.is === 'unrecorded') {
      const found = await this.#found(tenancy);
      if (found.length === 0) return;
      if (tenancy.adopt !== true) throw unrecordedError(tenancy, 'etcd', found);
      await this.#claim(tenancy);
    }
    await this.#writes.end(tenancy.schema);
    // Access is removed first: from here on, none of the tenant's credentials work.
    await this.#client.deleteUser(tenancy.user);
    await this.#client.deleteRole(tenancy.schema);
    await this.#purge(tenancyRange(tenancy.schema));
    const left = await this.#found(tenancy);
    if (left.length > 0) {
      throw new StoreError(
        'Failed',
        `tenancy ${tenancy.schema} is not removed yet: ${left.join(', ')} reappeared during the removal`,
      );
    }
    await forgetFence(this.#client, tenancy.schema);
    // The record is deleted last, so that an interrupted removal can be continued.
    await releaseOwnership(this.#client, tenancy);
  }

  async revoke(tenancy: Tenancy): Promise<void> {
    if (unsafeName(tenancy) !== undefined) return;
    const ownership = await readOwnership(this.#client, tenancy);
    // etcd authorizes every request, also over open connections: a deleted user has no permissions.
    if (ownership.is === 'own') await this.#client.deleteUser(tenancy.user);
  }

  async measure(tenancy: Tenancy, signal: AbortSignal): Promise<TenancySize | undefined> {
    if (!(await this.#isOwn(tenancy))) return undefined;
    const content = await measureKeys(this.#client.data, tenancyRange(tenancy.schema), signal);
    return { bytes: content.bytes, content };
  }

  async countWrites(tenancy: Tenancy, signal: AbortSignal): Promise<number | undefined> {
    if (!(await this.#isOwn(tenancy))) return undefined;
    return this.#writes.count(tenancy.schema, tenancyRange(tenancy.schema), signal);
  }

  async data(tenancy: Tenancy): Promise<TenancyData> {
    const ownership = await readOwnership(this.#client, tenancy);
    if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
    if (ownership.is === 'unrecorded') {
      throw new StoreError('Failed', `etcd has no tenancy ${tenancy.schema}: create it before copying its data`);
    }
    return new EtcdData(this.#client, tenancy.schema);
  }

  async defragment(request: DefragmentationRequest): Promise<DefragmentationStep> {
    return defragmentNext(this.#client, request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writes[Symbol.asyncDispose]();
    await this.#client[Symbol.asyncDispose]();
  }

  /** Throws OwnedByAnother for the tenancy of another owner. */
  async #isOwn(tenancy: Tenancy): Promise<boolean> {
    const ownership = await readOwnership(this.#client, tenancy);
    if (ownership.is === 'foreign') throw foreignError(tenancy, ownership);
    return ownership.is === 'own';
  }

  async #requireAuth(): Promise<void> {
    if (await this.#client.authEnabled()) return;
    throw new StoreError(
      'Unauthorized',
      'authentication is disabled in etcd, so every client could read every tenant: create user and role root and run etcdctl auth enable',
    );
  }

  async #claim(tenancy: Tenancy): Promise<void> {
    const before = await readOwnership(this.#client, tenancy);
    if (before.is === 'own') return;
    if (before.is === 'foreign') throw foreignError(tenancy, before);
    if (tenancy.adopt !== true) {
      const found = await this.#found(tenancy);
      if (found.length > 0) throw unrecordedError(tenancy, 'etcd', found);
    }
    if (await recordOwnership(this.#client, tenancy)) return;
    const after = await readOwnership(this.#client, tenancy);
    if (after.is !== 'own') throw foreignError(tenancy, after);
  }

  /** What exists under the names, for a message. */
  async #found({ schema, user }: Tenancy): Promise<readonly string[]> {
    const [roles, permissions, keys] = await Promise.all([
      this.#client.user(user),
      this.#client.role(schema),
      this.#client.count(tenancyRange(schema)),
    ]);
    return [
      ...(roles === undefined ? [] : [`user ${user}`]),
      ...(permissions === undefined ? [] : [`role ${schema}`]),
      ...(keys === 0 ? [] : [`${keys} keys under /${schema}/`]),
    ];
  }

  /** Deletes in pages: one huge delete would block every other tenant of the datastore. */
  async #purge(range: KeyRange): Promise<void> {
    const rounds = purgeRounds + Math.ceil((await this.#client.count(range)) / pageOfKeys);
    for (let round = 0; round < rounds; round += 1) {
      const page = await this.#client.keys(range, pageOfKeys);
      const last = page.at(-1);
      if (last === undefined) return;
      await this.#client.deleteRange({ start: range.start, end: Buffer.concat([last, Buffer.from([0])]) });
    }
  }
}

function same(left: KeyRange, right: KeyRange): boolean {
  return left.start.equals(right.start) && left.end.equals(right.end);
}

/** The lowest one, as a minor; absent when a member does not report it. */
function storageVersionOf(alive: readonly LivingMember[]): Pick<ServerState, 'storageVersion'> {
  const versions = alive.flatMap(({ storageVersion }) => parse(storageVersion) ?? []).sort(compare);
  const [lowest] = versions;
  if (lowest === undefined || versions.length < alive.length) return {};
  return { storageVersion: `${lowest.major}.${lowest.minor}` };
}

/** From this part of the quota on, a warning is reported. */
const nearlyFull = 0.8;

function notesOf(answers: readonly MemberAnswer[]): Pick<ServerState, 'notes'> {
  const living = answers.filter((answer) => 'version' in answer);
  const versions = new Set(living.map(({ version }) => version));
  const notes = answers.flatMap((answer) => {
    if ('failure' in answer) return [unavailableError([answer.failure]).message];
    const { endpoint, leaderId, sizeBytes, quotaBytes, version } = answer;
    return [
      ...(leaderId === '0' ? [`${endpoint} has no leader`] : []),
      ...(versions.size > 1 ? [`${endpoint} runs version ${version}`] : []),
      ...(quotaBytes > 0 && sizeBytes >= quotaBytes * nearlyFull
        ? [`${endpoint} uses ${Math.floor((sizeBytes * 100) / quotaBytes)}% of its quota`]
        : []),
    ];
  });
  return notes.length === 0 ? {} : { notes };
}
