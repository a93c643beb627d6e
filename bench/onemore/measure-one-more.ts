import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { deletedAtOnce } from '../burst/deleted-at-once.ts';
import { firstReached } from '../burst/first-reached.ts';
import { availableMemory, tenantsThatFit } from '../fitting-tenants.ts';
import { idleMachine } from '../footprint/idle.ts';
import { createObjects } from '../ready/contender.ts';
import type { Contender } from '../ready/contender.ts';
import { Observer } from '../ready/observer.ts';
import { measureRounds, withContenders } from '../ready/ready.ts';
import { tenant } from '../ready/tenant.ts';
import type { OneMoreRow } from './one-more-report.ts';

const namespace = 'bench-crowd';
const kinds = 'tenantcontrolplanes.steward.butlerlabs.dev';

/** How much is measured. */
export interface OneMoreOptions {
  /** Wanted tenants that run meanwhile; as many as fit are made. */
  readonly crowd: number;
  readonly rounds: number;
}

/** Measures how long one more control plane takes while none runs, and then while many do; and the same by hand. */
export async function measureOneMore(
  cluster: ManagementCluster,
  { crowd, rounds }: OneMoreOptions,
): Promise<readonly OneMoreRow[]> {
  return withContenders(cluster, { replicas: [1] }, async ([steward, byHand]) => {
    const contenders = [steward, byHand].filter((one) => one !== undefined);
    const alone = await measureBeside(cluster, contenders, { running: 0, rounds });
    // One of them is the one more.
    const running = (await tenantsThatFit(crowd + 1, cluster.harness.progress)) - 1;
    const before = await availableMemory();
    const timeoutMs = 120_000 + 20_000 * running;
    try {
      await createCrowd(cluster, running, timeoutMs);
      await idleMachine(0.2, 60_000);
      const perTenantMiB = (before - (await availableMemory())) / running;
      const beside = await measureBeside(cluster, contenders, { running, rounds });
      return [...alone, ...beside.map((row) => ({ ...row, perTenantMiB }))];
    } finally {
      await deletedAtOnce(cluster, { namespace, kinds, timeoutMs });
    }
  });
}

async function measureBeside(
  cluster: ManagementCluster,
  contenders: readonly Contender[],
  { running, rounds }: { readonly running: number; readonly rounds: number },
): Promise<readonly OneMoreRow[]> {
  cluster.harness.progress('one more', `${running} control planes run`);
  const series = await measureRounds(cluster, contenders, { pairs: rounds, replicas: 1 });
  return series.map(({ contender, ready, timelines, busyBefore }) => ({
    contender,
    running,
    readyMs: timelines.map((timeline) => timeline[ready]).filter((ms) => ms !== undefined),
    busyBefore,
  }));
}

async function createCrowd(cluster: ManagementCluster, count: number, timeoutMs: number): Promise<void> {
  cluster.harness.progress('one more', `creating ${count} tenants`);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  using observer = await Observer.start(cluster);
  const version = cluster.machine.record.kubernetes;
  const names = Array.from({ length: count }, (_, index) => `crowd-${index}`);
  const objects = names.map((name) => tenant({ name, namespace, replicas: 1, version }));
  await firstReached(
    observer,
    { namespace, kind: 'TenantControlPlane', names, milestone: 'status Ready' },
    {
      create: () => Promise.all(objects.map((object) => createObjects(cluster, [object]))),
      timeoutMs,
      diagnose: () => cluster.diagnose(namespace),
    },
  );
}
