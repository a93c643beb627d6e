import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

import { openHarness } from '../../e2e/cluster/harness.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { isRolledOut } from '../../e2e/framework/load/bare-rollout.ts';
import { addTenant } from '../footprint/add-tenant.ts';
import { managerDeployment, startStewardCluster } from '../steward-cluster.ts';
import type { Availability, HardwareRow } from './hardware-rows.ts';
import { partOnKubeadm, partOnManagement } from './part-of.ts';
import type { PlacedProcess } from './part-of.ts';
import { startStackedCluster } from './stacked-cluster.ts';
import { usageOfParts } from './usage-of-parts.ts';
import type { CountedProcess } from './usage-of-parts.ts';

const namespace = 'bench-hardware';

/** How much is measured. */
export interface HardwareOptions {
  readonly controlPlanes: number;
  /** Rest before each measurement, and its length. */
  readonly idleSeconds: number;
  /** Gives names for harnesses. */
  readonly harness: (part: string) => string;
  readonly progress: Progress;
}

const shapes = {
  'one replica': { members: 1, replicas: 1, dataStore: 'etcd' },
  available: { members: 3, replicas: 2, dataStore: 'etcd-three-members' },
} as const;

/** What idle control planes need on machines of their own and as pods, one after the other on this machine. */
export async function measureHardware(options: HardwareOptions): Promise<readonly HardwareRow[]> {
  const rows: HardwareRow[] = [];
  for (const availability of ['one replica', 'available'] as const)
    rows.push(...(await onKubeadm(availability, options)), ...(await onSteward(availability, options)));
  return rows;
}

async function onKubeadm(availability: Availability, options: HardwareOptions): Promise<readonly HardwareRow[]> {
  const { controlPlanes, progress } = options;
  const { members } = shapes[availability];
  // What a process has laid out for a harness is not laid out again for another one of the same name.
  await using harness = await openHarness({ name: options.harness(`bench-kubeadm-${members}`), progress });
  const names = Array.from({ length: controlPlanes }, (_, index) => `own-${index}`);
  const clusters = [];
  for (const name of names) clusters.push(await startStackedCluster(harness, { name, members }));
  const machines = clusters.flat();
  const list = async (): Promise<readonly CountedProcess[]> => {
    const processes = (await Promise.all(machines.map((machine) => machine.processes()))).flat();
    return processes.map((each) => ({ pid: each.pid, part: partOnKubeadm(each) }));
  };
  const measured = await whileIdle(list, options, harness.signal);
  return measured.map((row) => ({ way: 'kubeadm', availability, controlPlanes, machines: machines.length, ...row }));
}

async function onSteward(availability: Availability, options: HardwareOptions): Promise<readonly HardwareRow[]> {
  const { controlPlanes, progress } = options;
  const { replicas, dataStore } = shapes[availability];
  const name = options.harness(`bench-hosted-${replicas}`);
  await using cluster = await startStewardCluster({ name, keep: false, progress, dataStore });
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  for (let index = 0; index < controlPlanes; index += 1) {
    const tenant = `hosted-${index}`;
    progress('tenant', tenant);
    await addTenant(cluster, { name: tenant, namespace, replicas });
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: tenant };
    await cluster.waitFor(deployment, isRolledOut, { timeoutMs: 180_000, what: 'all replicas' });
  }
  const pods = await placedPods(cluster);
  const list = async (): Promise<readonly CountedProcess[]> => {
    const processes = await cluster.machine.processes();
    return Promise.all(
      processes.map(async ({ pid, command }) => {
        // A process may end between the list and the look.
        const group = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
        const pod = [...pods].find(([uid]) => group.includes(uid))?.[1];
        return { pid, part: partOnManagement({ command, pod }) };
      }),
    );
  };
  const measured = await whileIdle(list, options, cluster.harness.signal);
  return measured.map((row) => ({ way: 'Steward', availability, controlPlanes, machines: 1, ...row }));
}

async function whileIdle(
  list: () => Promise<readonly CountedProcess[]>,
  { idleSeconds, progress }: HardwareOptions,
  signal: AbortSignal,
): ReturnType<typeof usageOfParts> {
  progress('hardware', `all rest for ${idleSeconds} s, then are looked at for as long`);
  await pause(idleSeconds * 1000, undefined, { signal });
  return usageOfParts(list, { seconds: idleSeconds, signal });
}

/** The pods of tenants, datastore and manager, by UID. */
async function placedPods({ client }: ManagementCluster): Promise<ReadonlyMap<string, PlacedProcess['pod']>> {
  const uids = async (of: string, selector?: string): Promise<readonly string[]> =>
    (await client.list('v1', 'Pod', of, selector)).map(({ metadata }) => metadata?.uid ?? '');
  const [tenants, members, managers] = await Promise.all([
    uids(namespace),
    uids(managerDeployment.namespace, 'app.kubernetes.io/name=etcd,app.kubernetes.io/component=member'),
    uids(managerDeployment.namespace, 'control-plane=controller-manager'),
  ]);
  return new Map([
    ...tenants.map((uid) => [uid, 'tenant'] as const),
    ...members.map((uid) => [uid, 'datastore'] as const),
    ...managers.map((uid) => [uid, 'manager'] as const),
  ]);
}
