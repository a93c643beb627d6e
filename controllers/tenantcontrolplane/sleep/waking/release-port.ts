import { kinds } from '../../../../api/core/kinds.ts';
import { activatorComponent, labels, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../../dependencies.ts';

/**
 * Gives the port of a tenant that is deleted back. What leads calls there goes first: its nodes go on calling, and would wake up the next one
 * that gets the port.
 */
export async function releasePort(
  { metadata }: TenantControlPlane,
  deps: Pick<Dependencies, 'cluster' | 'waking'>,
  { signal }: Context,
): Promise<void> {
  const { namespace, name, uid } = metadata;
  if (deps.waking.ports.of(metadata) === undefined) return;
  const found = await deps.cluster.list(kinds.EndpointSlice, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${tenantObjects(name).service},${labels.component}=${activatorComponent}`,
    metadataOnly: true,
    signal,
  });
  const ours = found.items.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some((owner) => owner.uid === uid),
  );
  await Promise.all(
    ours.map((slice) =>
      deps.cluster.delete(
        kinds.EndpointSlice,
        { namespace, name: slice.metadata.name },
        { uid: slice.metadata.uid, signal },
      ),
    ),
  );
  await deps.waking.ports.release(metadata, signal);
}
