import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';

/**
 * The StewardControlPlane that owns a TenantControlPlane, read from the API server; undefined if there is none, or if another
 * object has its name now. The owner reference only says which object to read: what the StewardControlPlane retains, and for
 * whom, is in its own status.
 */
export async function findOwner(
  { metadata }: TenantControlPlane,
  { cluster }: Pick<Dependencies, 'cluster'>,
  { signal }: Context,
): Promise<StewardControlPlane | undefined> {
  const reference = metadata.ownerReferences?.find(
    ({ kind, apiVersion, controller }) =>
      controller === true &&
      kind === stewardControlPlane.kind &&
      apiVersion.startsWith(`${stewardControlPlane.group}/`),
  );
  if (reference === undefined || reference.name !== metadata.name) return undefined;
  const key = { namespace: metadata.namespace ?? '', name: reference.name };
  const found = await cluster.get(stewardControlPlane, key, { signal });
  return found?.metadata.uid === reference.uid ? found : undefined;
}
