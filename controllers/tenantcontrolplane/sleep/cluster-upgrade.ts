import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { sleepOverride } from './sleep-override.ts';

/**
 * What has a control plane awake whatever its schedules and its use say, as text: its Cluster is being upgraded, and Cluster API waits for it.
 * A person who has put it to sleep for a while prevails.
 */
export function clusterUpgrade(tcp: Pick<TenantControlPlane, 'metadata'>, now: number): string | undefined {
  const version = tcp.metadata.annotations?.[annotations.clusterUpgrade] ?? '';
  if (version === '' || sleepOverride(tcp, now) !== undefined) return undefined;
  return `its Cluster is being upgraded to ${version}`;
}
