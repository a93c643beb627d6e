import { kinds } from '../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { ManagementCluster } from '../connect/management-cluster.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { LocalControlPlane } from './find-control-plane.ts';
import { conditionLine } from './ready-condition.ts';

/** Which address of the API server is meant: the endpoint, or the Service in the management cluster. */
export type AddressOf = 'endpoint' | 'service';

/**
 * The administrator's kubeconfig of a control plane, from its Secret.
 * @throws PluginError if it does not exist yet.
 */
export async function readAdminKubeconfig(
  { name, namespace, tenant }: LocalControlPlane,
  address: AddressOf,
  { cluster, signal }: Pick<ManagementCluster, 'cluster' | 'signal'>,
): Promise<string> {
  const secretName = tenantObjects(name).adminKubeconfig;
  const secret = await cluster.get(kinds.Secret, { namespace, name: secretName }, { signal });
  const { admin, adminService } = dataKeys.adminKubeconfig;
  const value = secret?.data?.[address === 'endpoint' ? admin : adminService];
  if (value === undefined) {
    const condition = tenant.status?.conditions?.find(({ type }) => type === 'KubeconfigsReady');
    const why = condition === undefined ? 'the manager has not reported why' : conditionLine(condition);
    throw new PluginError(
      `control plane ${name} has no kubeconfig yet (Secret ${namespace}/${secretName}): ${why}`,
      exitCodes.absent,
    );
  }
  return Buffer.from(value, 'base64').toString('utf8');
}
