import { apiVersionOf, ownerReferenceOf } from '../../api/meta.ts';
import type { Manifest } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { longestPoolName } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { templateHash } from '../../api/steward/v1alpha1/pool/template-hash.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

/** What is wrong with the name of a pool; undefined for a usable one. The definition of an older version lets any name pass. */
export function nameProblem({ metadata: { name } }: ControlPlanePool): string | undefined {
  if (name.length <= longestPoolName && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) return undefined;
  return `metadata.name: the names of the control planes begin with it: use at most ${longestPoolName} lower-case letters, digits and dashes, beginning with a letter, in another pool`;
}

/** A new control plane of a pool. What is retained of a former one of its name would not be new, so its name is one that none had. */
export function preparedManifest(pool: ControlPlanePool, suffix: string): Manifest {
  const { name, namespace } = pool.metadata;
  const { metadata, spec } = pool.spec.template;
  return {
    apiVersion: apiVersionOf(tenantControlPlane),
    kind: tenantControlPlane.kind,
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      labels: { ...metadata?.labels, [labels.pool]: name, [labels.templateHash]: templateHash(pool.spec.template) },
      ...(metadata?.annotations !== undefined && { annotations: metadata.annotations }),
      ownerReferences: [ownerReferenceOf(pool)],
    },
    spec,
  };
}
