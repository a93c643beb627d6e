import { AlarmAction, AlarmType } from 'etcd3';
import { StoreError } from '../../store-error.ts';
import type { EtcdConnection } from '../connection.ts';

/** A member as the cluster has it. */
export interface ListedMember {
  readonly id: string;
  /** Empty for a member that was added and has not started yet. */
  readonly name: string;
  readonly isLearner: boolean;
}

/** An alarm that a member has raised. */
export interface Alarm {
  readonly memberId: string;
  readonly is: 'space' | 'other';
  /** E.g. `CORRUPT`. */
  readonly text: string;
}

/** The calls for the maintenance of members. Each throws `StoreError`. */
export class EtcdMaintenanceClient {
  readonly #connection: EtcdConnection;

  constructor(connection: EtcdConnection) {
    this.#connection = connection;
  }

  async listMembers(): Promise<readonly ListedMember[]> {
    const { members } = await this.#connection.call('list the members', (client) => client.cluster.memberList({}));
    return members.map(({ ID, name, isLearner }) => ({ id: ID, name, isLearner }));
  }

  async alarms(): Promise<readonly Alarm[]> {
    const request = { action: AlarmAction.Get, memberID: '0', alarm: AlarmType.None };
    const answer = await this.#connection.call('read the alarms', (client) => client.maintenance.alarm(request));
    return answer.alarms.map(({ memberID, alarm }) => {
      const text = alarm.toUpperCase();
      return { memberId: memberID, is: text === 'NOSPACE' ? 'space' : 'other', text };
    });
  }

  /** Disarms the alarm of this member about its used-up quota. */
  async disarm(memberId: string): Promise<void> {
    const request = { action: AlarmAction.Deactivate, memberID: memberId, alarm: AlarmType.Nospace };
    await this.#connection.call('disarm an alarm', (client) => client.maintenance.alarm(request));
  }

  /**
   * Resolves once this member has applied all that was committed before the call: it is connected to the leader, in sync, and not
   * blocked.
   */
  async requireInSync(endpoint: string): Promise<void> {
    const request = { key: Buffer.from('steward.butlerlabs.dev/'), limit: 1, keys_only: true };
    await this.#connection.at(endpoint, 'read a key', (client) => client.kv.range(request));
  }

  /** Blocks the member until it is done. The member continues when the deadline passes first. */
  async defragment(endpoint: string, deadlineMs: number): Promise<void> {
    await this.#connection.at(endpoint, 'defragment its file', (client) =>
      client.maintenance.defragment({ deadline: Date.now() + deadlineMs }),
    );
  }

  /** Compacts the history up to this revision; does nothing if it is compacted already. The pages become free some time afterwards. */
  async compact(revision: bigint): Promise<void> {
    try {
      await this.#connection.call('compact its history', (client) =>
        client.kv.compact({ revision: revision.toString() }),
      );
    } catch (error) {
      if (!(error instanceof StoreError && error.message.includes('revision has been compacted'))) throw error;
    }
  }

  /** Takes a lock that ends by itself after this time; undefined when another process has it. */
  async lock(key: string, seconds: number): Promise<string | undefined> {
    const { ID: lease } = await this.#connection.call('grant a lease', (client) =>
      client.leaseClient.leaseGrant({ TTL: seconds }),
    );
    const name = Buffer.from(key);
    const { succeeded } = await this.#connection.call('take a lock', (client) =>
      client.kv.txn({
        compare: [{ key: name, target: 'Create', result: 'Equal', create_revision: '0' }],
        success: [{ request_put: { key: name, value: Buffer.alloc(0), lease } }],
        failure: [],
      }),
    );
    if (succeeded) return lease;
    await this.unlock(lease);
    return undefined;
  }

  async unlock(lease: string): Promise<void> {
    await this.#connection.call('revoke a lease', (client) => client.leaseClient.leaseRevoke({ ID: lease }));
  }
}

/** The calls of the client, as an interface that tests can implement. */
export type EtcdMaintenanceCalls = Pick<EtcdMaintenanceClient, keyof EtcdMaintenanceClient>;
