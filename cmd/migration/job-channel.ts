import { kinds } from '../../api/core/kinds.ts';
import type { Job } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import {
  annotationsPatch,
  readChannel,
} from '../../controllers/tenantcontrolplane/datastore/migration/migration-job.ts';
import type { MigrationChannel } from '../../controllers/tenantcontrolplane/datastore/migration/migration-job.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';

/** Nothing that this process does can lead to a result: trying again would not help. The message is for a person. */
export class GiveUpError extends Error {
  override readonly name = 'GiveUpError';
}

/** The process' end of the channel to the controller: the annotations of its own Job. */
export class JobChannel {
  readonly #cluster: Cluster;
  readonly #key: Key;

  constructor(cluster: Cluster, key: Key) {
    this.#cluster = cluster;
    this.#key = key;
  }

  /** The Job with what both ends have said. Throws `GiveUpError` when there is none. */
  async job(): Promise<Job> {
    const job = await this.#cluster.get(kinds.Job, this.#key);
    if (job !== undefined) return job;
    const { namespace = '', name } = this.#key;
    throw new GiveUpError(
      `Job ${namespace}/${name} does not exist: to migrate, change spec.dataStore, which starts the Job`,
    );
  }

  async read(): Promise<MigrationChannel> {
    return readChannel(await this.job());
  }

  /** Writes annotations and returns the result; undefined removes one. */
  async write(values: Readonly<Record<string, string | undefined>>): Promise<MigrationChannel> {
    return readChannel(await this.#cluster.patch(kinds.Job, this.#key, annotationsPatch(values)));
  }

  /** Writes annotations if the Job is still at `version`; returns false when it has changed. */
  async writeIf(version: string | undefined, values: Readonly<Record<string, string | undefined>>): Promise<boolean> {
    const { type, body } = annotationsPatch(values);
    const guarded = { metadata: { ...body.metadata, resourceVersion: version } };
    try {
      await this.#cluster.patch(kinds.Job, this.#key, { type, body: guarded });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.code === 409) return false;
      throw error;
    }
  }
}
