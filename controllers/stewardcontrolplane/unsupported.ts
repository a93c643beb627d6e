import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { NewCondition } from '../../runtime/conditions.ts';

/** Fields of the StewardControlPlane itself that have no counterpart yet; what it hands down is judged there. */
function unsupportedFields({ spec }: StewardControlPlane): readonly string[] {
  const fields: Readonly<Record<string, unknown>> = {
    'spec.deployment.externalClusterReference': spec.deployment?.externalClusterReference,
    'spec.deployment.probes': spec.deployment?.probes,
    'spec.apiServer.probes': spec.apiServer?.probes,
    'spec.controllerManager.probes': spec.controllerManager?.probes,
    'spec.scheduler.probes': spec.scheduler?.probes,
    'spec.network.advertiseAddress': spec.network.advertiseAddress,
    'spec.addons.konnectivity.server.securityContext': spec.addons?.konnectivity?.server.securityContext,
  };
  return Object.keys(fields).filter((field) => fields[field] !== undefined && fields[field] !== '');
}

/** One condition over the fields that neither this object nor its TenantControlPlane acts upon. */
export function unsupportedCondition(
  scp: StewardControlPlane,
  tenant: Pick<TenantControlPlane, 'status'> | undefined,
): NewCondition {
  const type = 'UnsupportedFields';
  const own = unsupportedFields(scp);
  const below = tenant?.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
  const messages = [
    ...(own.length > 0 ? [`not acted upon yet: ${own.join(', ')}`] : []),
    ...(below === undefined ? [] : [`TenantControlPlane: ${below.message}`]),
  ];
  if (messages.length === 0) return { type, status: 'False', reason: 'AllSupported', message: '' };
  return { type, status: 'True', reason: 'NotActedUpon', message: messages.join('; ') };
}
