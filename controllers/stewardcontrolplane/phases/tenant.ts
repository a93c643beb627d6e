import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError, TerminalError } from '../../../runtime/errors.ts';
import type { Phase } from '../../../runtime/phases.ts';
import { tenantControlPlaneOf } from '../components/tenant-control-plane.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** Makes the TenantControlPlane what the StewardControlPlane and its Cluster say. */
export function tenantPhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'tenant',
    condition: 'TenantControlPlaneCreated',
    async run({ scp, cluster }, ctx) {
      const { namespace = '', name = '' } = scp.metadata;
      const existing = await deps.cluster.get(tenantControlPlane, { namespace, name }, { signal: ctx.signal });
      const owner = existing?.metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (existing !== undefined && owner?.uid !== scp.metadata.uid) {
        const message = `a TenantControlPlane ${name} exists that this object does not own; rename one of them, or delete it`;
        return { is: 'waiting', reason: 'OwnedByAnother', message };
      }
      try {
        const manifest = tenantControlPlaneOf(scp, cluster, existing);
        const options = { fieldManager, signal: ctx.signal };
        const tenant = await deps.cluster.apply(tenantControlPlane, manifest, options);
        return { is: 'done', learned: { tenant } };
      } catch (error) {
        // An answer of admission or of the schema: only another spec helps.
        if (
          error instanceof ApiError &&
          (error.code === 422 || (error.code === 403 && error.message.includes('admission')))
        ) {
          throw new TerminalError('Refused', `the TenantControlPlane was refused: ${error.message}`, { cause: error });
        }
        throw error;
      }
    },
  };
}
