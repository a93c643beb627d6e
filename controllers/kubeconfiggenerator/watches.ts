import { kinds } from '../../api/core/kinds.ts';
import type { Key, Resource } from '../../api/meta.ts';
import { labels } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Watch } from '../../runtime/reconcile/controller.ts';
import type { Dependencies } from './dependencies.ts';

/** The parts of a tenant on which a kubeconfig may depend; regular updates of its status are not among them. */
function traits(tcp: TenantControlPlane | undefined): string {
  if (tcp === undefined) return '';
  const { metadata, status } = tcp;
  return JSON.stringify([
    metadata.uid,
    metadata.generation,
    metadata.labels,
    metadata.annotations,
    metadata.deletionTimestamp,
    status?.controlPlaneEndpoint,
    status?.kubeconfig?.admin?.checksum,
    status?.certificates?.ca?.checksum,
  ]);
}

/** What else concerns a KubeconfigGenerator. */
export function kubeconfigGeneratorWatches(deps: Pick<Dependencies, 'generators'>): readonly Watch[] {
  const keysOf = (wants: (generator: ReturnType<Dependencies['generators']>[number]) => boolean): readonly Key[] =>
    deps
      .generators()
      .filter(wants)
      .map(({ metadata }) => ({ name: metadata.name }));
  return [
    {
      kind: tenantControlPlane,
      keys: (old, now) => (traits(old) === traits(now) ? [] : keysOf(() => true)),
    } satisfies Watch<TenantControlPlane>,
    {
      kind: kinds.Namespace,
      metadataOnly: true,
      keys: (old, now) =>
        JSON.stringify(old?.metadata.labels) === JSON.stringify(now?.metadata.labels)
          ? []
          : keysOf(({ spec }) => Object.keys(spec.namespaceSelector ?? {}).length > 0),
    },
    {
      kind: kinds.Secret,
      labelSelector: labels.managedBy,
      metadataOnly: true,
      keys(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
        const names = [old, now].map((secret) => secret?.metadata.labels?.[labels.managedBy]);
        return [...new Set(names)].flatMap((name) => (name === undefined ? [] : [{ name }]));
      },
    },
  ];
}
