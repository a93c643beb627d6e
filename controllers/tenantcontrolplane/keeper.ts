import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../runtime/controller.ts';
import type { Dependencies } from './dependencies.ts';

/**
 * The StewardControlPlane behind a TenantControlPlane, as the API server has it at this moment; undefined for one without, and
 * where another object has that name by now. An owner reference is only asked whom to look for: what the StewardControlPlane keeps,
 * and for whom, stands in its own status.
 */
export async function keeperOf(
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
