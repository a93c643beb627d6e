import { clusterUpgrade } from '../upgrade/cluster-upgrade.ts';
import type { Scope } from '../scope.ts';
import { restartDueMs } from './restart-mark.ts';

/** While its Cluster is upgraded, so long until it is seen that this is over: no watch tells what this controller has reported itself. In milliseconds. */
const upgradeMs = 30_000;

/** When the TenantControlPlane has to be made again although nothing has changed, in milliseconds; undefined if it need not. */
export function dueMs({ scp, cluster }: Pick<Scope, 'scp' | 'cluster'>, now: Date): number | undefined {
  const times = [
    restartDueMs({ after: scp.spec.rollout?.after, now }),
    clusterUpgrade(scp, cluster) === undefined ? undefined : upgradeMs,
  ].filter((ms) => ms !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}
