import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { isCondition, TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { callsDuring } from './callers.ts';
import type { CallsSeen } from './callers.ts';
import { installMetricsServer } from './install-metrics-server.ts';
import { PodCounts } from './pod-counts.ts';
import type { PodCount } from './pod-counts.ts';

const tenant = 'busy';
const [fewCalls, manyCalls] = [10, 300] as const;
const bounds = { minReplicas: 1, maxReplicas: 4 } as const;
const minuteMs = 60_000;

/** Scaling down waits for the highest wish of this time; Kubernetes' default is five minutes. */
const stabilizationWindowSeconds = 60;

/** A time with one load, and how many pods ran in it. */
export interface AutoscalingRow extends CallsSeen {
  readonly callsPerSecond: number;
  readonly podsBefore: number;
  readonly podsMost: number;
  readonly podsAfter: number;
  readonly counts: readonly PodCount[];
}

/** Calls an autoscaled control plane rarely, often and rarely again, with real metrics of its pods. */
export async function measureAutoscaling(
  cluster: ManagementCluster,
  progress: Progress,
): Promise<readonly AutoscalingRow[]> {
  await installMetricsServer(cluster, progress);
  const stage = new TenantStage(cluster, 'autoscaling');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } }]);
  await cluster.apply([
    stage.manifest(tenant, {
      controlPlane: {
        service: { serviceType: 'NodePort' },
        deployment: {
          replicas: bounds.minReplicas,
          resources: { apiServer: { requests: { cpu: '200m' } } },
          autoscaling: {
            ...bounds,
            targetCPUUtilizationPercentage: 60,
            behavior: { scaleDown: { stabilizationWindowSeconds } },
          },
        },
      },
    }),
  ]);
  await stage.waitFor(tenant, 'Ready');
  // The first metrics of a pod come after its readiness, and the autoscaler looks every 15 s.
  await stage.waitFor(tenant, isCondition('Autoscaled', 'True', 'Autoscaled'), { timeoutMs: 3 * minuteMs });
  await using counts = new PodCounts(stage, tenant);
  const isAtRest = ({ ready, cpuPercent }: PodCount): boolean =>
    ready === bounds.minReplicas && cpuPercent !== undefined;
  if (!(await counts.until(isAtRest, 5 * minuteMs))) throw new Error('The autoscaler does not come to rest.');
  progress('at rest', describe(counts.all.at(-1)));
  const kubeconfig = await stage.kubeconfig(tenant);
  const phase = async (callsPerSecond: number, work: () => Promise<unknown>): Promise<AutoscalingRow> => {
    const from = counts.all.length - 1;
    const seen = await callsDuring({ kubeconfig, floor: cluster.client, callsPerSecond }, async () => {
      await work();
    });
    const during = counts.all.slice(from);
    progress(`${callsPerSecond} calls/s`, `${seen.failed.length} of ${seen.calls} failed; ${describe(during.at(-1))}`);
    return {
      callsPerSecond,
      ...seen,
      podsBefore: during[0]?.ready ?? 0,
      podsMost: Math.max(...during.map(({ ready }) => ready)),
      podsAfter: during.at(-1)?.ready ?? 0,
      counts: during,
    };
  };
  return [
    await phase(fewCalls, () => pause(minuteMs)),
    await phase(manyCalls, () => pause(3 * minuteMs)),
    await phase(fewCalls, () => counts.until(isAtRest, 6 * minuteMs)),
  ];
}

function describe(count: PodCount | undefined): string {
  const { ready = 0, wanted = 0, cpuPercent } = count ?? {};
  return `${ready} of ${wanted} pods, CPU ${cpuPercent === undefined ? 'unknown' : `${cpuPercent} %`}`;
}
