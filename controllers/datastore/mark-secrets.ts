import { kinds } from '../../api/core/kinds.ts';
import { labels } from '../../api/names.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { secretsOf } from './secret-references.ts';

/**
 * Labels the Secrets that a DataStore reads. The webhook that protects them selects this label, so that the deletion of no other
 * Secret of the cluster waits for the manager.
 */
export async function markSecrets(
  store: DataStore,
  { cluster, signal }: { readonly cluster: Pick<Cluster, 'get' | 'patch'>; readonly signal: AbortSignal },
): Promise<void> {
  await Promise.all(
    secretsOf(store).map(async (key) => {
      const secret = await cluster.get(kinds.Secret, key, { signal });
      if (secret === undefined || secret.metadata.labels?.[labels.dataStoreCredentials] === 'true') return;
      const body = { metadata: { labels: { [labels.dataStoreCredentials]: 'true' } } };
      try {
        await cluster.patch(kinds.Secret, key, { type: 'merge', body }, { signal });
      } catch (error) {
        // Deleted meanwhile: the watch reports when there is another.
        if (!(error instanceof ApiError) || error.code !== 404) throw error;
      }
    }),
  );
}
