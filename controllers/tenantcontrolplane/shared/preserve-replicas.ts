import { kinds } from '../../../api/core/kinds.ts';
import type { Key, Manifest, Resource } from '../../../api/meta.ts';
import { keyOf } from '../../../runtime/cache/object-id.ts';

/** A Deployment, as far as it matters here. */
export type Scalable = Resource & { readonly spec?: { readonly replicas?: number } };

/**
 * The same manifests, but each existing Deployment keeps its number of replicas, as kubeadm does for CoreDNS: an autoscaler
 * inside the tenant may change it. The number is sent, not left out: a field that we owned and no longer send falls back to the
 * API server's default.
 */
export async function withPreservedReplicas(
  manifests: readonly Manifest[],
  read: (key: Key) => Promise<Scalable | undefined>,
): Promise<readonly Manifest[]> {
  return Promise.all(
    manifests.map(async (manifest) => {
      if (manifest.kind !== kinds.Deployment.kind) return manifest;
      const present = await read(keyOf(manifest));
      const replicas = present?.spec?.replicas;
      return replicas === undefined ? manifest : { ...manifest, spec: { ...(manifest.spec as object), replicas } };
    }),
  );
}
