import type { KindRef, Manifest } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { ApiError } from '../../../runtime/client/errors.ts';

/** Creates an object on an API server that has just started: it creates its first namespaces itself shortly after it answers. */
export async function createEarly(client: Cluster, kind: KindRef, manifest: Manifest): Promise<void> {
  for (;;) {
    try {
      await client.create(kind, manifest);
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === 'AlreadyExists') return;
      const isEarly = error.code === 404 || error.code === 403;
      if (!isEarly) throw error;
    }
  }
}
