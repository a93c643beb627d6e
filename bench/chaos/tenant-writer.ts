import { kinds } from '../../api/core/kinds.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { pauseUnlessOver } from '../pause-unless-over.ts';

/** Milliseconds between two writes. */
const everyMs = 1_000;
const namespace = 'default';
const prefix = 'written-';

/** A user of a real tenant, who creates one ConfigMap after the other and remembers which were acknowledged. */
export class TenantWriter {
  readonly #tenant: Cluster;
  readonly #acknowledged: string[] = [];
  #failed = 0;

  constructor(tenant: Cluster) {
    this.#tenant = tenant;
  }

  get acknowledged(): number {
    return this.#acknowledged.length;
  }

  /** Requests without an answer, or that were refused, such as while the datastore is away. */
  get failed(): number {
    return this.#failed;
  }

  /** Goes on until this is aborted. */
  async write(until: AbortSignal): Promise<void> {
    for (let number = 0; !until.aborted; number += 1) {
      const name = `${prefix}${number}`;
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { number: name } };
      await this.#tenant.create(kinds.ConfigMap, manifest).then(
        () => this.#acknowledged.push(name),
        () => (this.#failed += 1),
      );
      await pauseUnlessOver(everyMs, until);
    }
  }

  /** How many writes that were acknowledged are not there. */
  async lost(): Promise<number> {
    const { items } = await this.#tenant.list(kinds.ConfigMap, { namespace });
    const found = new Map(items.map(({ metadata, data }) => [metadata.name, data?.number]));
    return this.#acknowledged.filter((name) => found.get(name) !== name).length;
  }
}
