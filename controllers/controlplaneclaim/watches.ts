import { kinds } from '../../api/core/kinds.ts';
import type { Key, NamespacedResource, Resource } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { isReady } from '../../api/steward/v1alpha1/pool/prepared.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';
import type { Dependencies } from './dependencies.ts';

/** What else concerns a ControlPlaneClaim. */
export function claimWatches({ claims }: Pick<Dependencies, 'claims'>): readonly Watch[] {
  /** The claims that wait for a control plane of this pool. */
  const waitingFor = (namespace: string, pool: string): readonly Key[] =>
    claims()
      .filter(({ metadata, spec }) => metadata.namespace === namespace && spec.pool === pool)
      .filter(({ status }) => status?.tenantControlPlane === undefined)
      .map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  return [
    {
      kind: tenantControlPlane,
      keys(old, now): readonly Key[] {
        if (traits(old) === traits(now)) return [];
        const pool = now?.metadata.labels?.[labels.pool];
        // One that belongs to a claim is of no use to the others.
        const isFree = now !== undefined && now.metadata.labels?.[labels.claimedBy] === undefined && isReady(now);
        return [
          ...claimsOf(old, now),
          ...(isFree && pool !== undefined ? waitingFor(now.metadata.namespace, pool) : []),
        ];
      },
    } satisfies Watch<TenantControlPlane>,
    {
      kind: controlPlanePool,
      optional: true,
      keys(old, now): readonly Key[] {
        const { metadata } = now ?? old ?? {};
        if (metadata === undefined || poolTraits(old) === poolTraits(now)) return [];
        return waitingFor(metadata.namespace, metadata.name);
      },
    } satisfies Watch<ControlPlanePool>,
    {
      kind: kinds.Secret,
      labelSelector: labels.claimedBy,
      metadataOnly: true,
      keys: (old: Resource | undefined, now: Resource | undefined) => claimsOf(old, now),
    },
  ] as readonly Watch[];
}

/** The claims that own an object. */
function claimsOf(...seen: readonly (Resource | undefined)[]): readonly Key[] {
  const names = new Map<string, Key>();
  for (const object of seen) {
    const { namespace = '', ownerReferences = [] } = object?.metadata ?? {};
    for (const { kind, name } of ownerReferences) {
      if (kind === controlPlaneClaim.kind) names.set(name, { namespace, name });
    }
  }
  return [...names.values()];
}

/** What of a control plane decides whether it can be claimed, and what the kubeconfig of its claim contains. */
function traits(tcp: TenantControlPlane | undefined): string {
  if (tcp === undefined) return '';
  const { uid, labels: carried, ownerReferences, deletionTimestamp } = tcp.metadata;
  const { controlPlaneEndpoint, kubeconfig, certificates } = tcp.status ?? {};
  return JSON.stringify([
    ...[uid, carried, ownerReferences, deletionTimestamp, isReady(tcp)],
    ...[controlPlaneEndpoint, kubeconfig?.admin?.checksum, certificates?.ca?.checksum],
  ]);
}

function poolTraits(pool: (ControlPlanePool & NamespacedResource) | undefined): string {
  if (pool === undefined) return '';
  const { uid, generation, deletionTimestamp } = pool.metadata;
  return JSON.stringify([uid, generation, deletionTimestamp]);
}
