import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { createObjects } from '../ready/contender.ts';
import { TimelineRecorder } from '../ready/milestones.ts';
import { tenant, tenantApiVersion } from '../ready/tenant.ts';
import type { TenantRequest } from '../ready/tenant.ts';

/** Creates a tenant of the management cluster's version; resolves when it is Ready and has both add-ons. */
export async function addTenant(cluster: ManagementCluster, request: Omit<TenantRequest, 'version'>): Promise<void> {
  const { name, namespace } = request;
  await createObjects(cluster, [tenant({ ...request, version: cluster.machine.record.kubernetes })]);
  await cluster.waitFor({ apiVersion: tenantApiVersion, kind: 'TenantControlPlane', name, namespace }, isFinished, {
    timeoutMs: 180_000,
    what: 'status Ready with both add-ons',
  });
}

function isFinished(object: PlainObject | undefined): boolean {
  const recorder = new TimelineRecorder(0);
  if (object !== undefined) recorder.see({ at: 0, type: 'ADDED', kind: 'TenantControlPlane', object });
  return recorder.has('status Ready') && recorder.has('add-ons enabled');
}
