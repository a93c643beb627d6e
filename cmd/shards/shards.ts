import { randomUUID } from 'node:crypto';
import { annotations, labels } from '../../api/names.ts';
import type { Draft, Key } from '../../api/meta.ts';
import type { TenantShards } from '../../controllers/tenantcontrolplane/create-dependencies.ts';
import { parseChoices, printChoices } from '../../controllers/tenantcontrolplane/datastore/placement/choices-record.ts';
import { startShare } from '../../controllers/tenantcontrolplane/workload/rollout/start-share.ts';
import { keyOf, textOf } from '../../runtime/cache/object-id.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { Metrics } from '../../runtime/observe/metrics.ts';
import { Membership } from '../../runtime/shards/membership.ts';
import { SharedRecord } from '../../runtime/shards/shared-record.ts';
import type { ManagerSettings } from '../flags/manager-settings.ts';

export interface ShardsOptions {
  readonly settings: Pick<ManagerSettings, 'podName' | 'podUid' | 'podNamespace'>;
  /** Not guarded: a member must write before it may work. */
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'members'>;
  /** Called when this process must end, within so many milliseconds: then others may work on its objects. */
  readonly lost: (leftMs: number) => void;
}

/** The Lease of what managers that share tenants have chosen lately. */
const choicesLease = 'steward-chosen-datastores';

/** This manager among those that share the objects. */
export class Shards {
  readonly membership: Membership;
  readonly #clock: Clock;
  readonly #namespace: string;

  constructor({ settings, cluster, clock, log, metrics, lost }: ShardsOptions) {
    const { podName, podUid, podNamespace: namespace } = settings;
    const place = podUid === '' ? undefined : `${podName}_${podUid}_`;
    this.#clock = clock;
    this.#namespace = namespace;
    const id = randomUUID();
    this.membership = new Membership({
      ...{ cluster, clock, log, namespace, random: Math.random },
      name: `steward-shard-${id}`,
      identity: `${place ?? `${podName}_`}${id}`,
      ...(place !== undefined && { predecessors: place }),
      lost: (_, leftMs) => {
        lost(leftMs);
      },
      label: labels.shard,
      annotation: annotations.shardClaim,
      counted: (members) => {
        metrics.members(members);
      },
    });
  }

  /** Whether this manager reconciles the object. */
  owns(object: Draft): boolean {
    return this.ownsKey(keyOf(object));
  }

  /** Whether this manager reconciles what has this key. */
  ownsKey(key: Key): boolean {
    return this.membership.owns(textOf(key));
  }

  /** What the controller of tenants decides together with others; `guarded` refuses writes of a manager that must not write. */
  tenants(guarded: Cluster): TenantShards {
    const { membership } = this;
    const record = new SharedRecord({
      cluster: guarded,
      lease: { namespace: this.#namespace, name: choicesLease },
      annotation: annotations.chosenDataStores,
      parse: parseChoices,
      print: printChoices,
    });
    const self = membership.name;
    const isAtWork = (name: string, signal: AbortSignal): Promise<boolean> => membership.isMember(name, signal);
    return {
      placements: { record, self, isAtWork, clock: this.#clock },
      startShare: (limit) => startShare(limit, membership.members, self),
    };
  }
}
