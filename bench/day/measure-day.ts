import { setTimeout as pause } from 'node:timers/promises';

import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { MovedClocks } from '../../e2e/framework/clock/moved-clocks.ts';
import { installActivator } from '../../e2e/framework/waking/install-activator.ts';
import { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { podProcesses, usageOf } from '../instant/pods-usage.ts';
import type { DayRow, PodNeeds, SleepLedger } from './day-rows.ts';
import { readLedger } from './day-rows.ts';
import type { DayCall, TenantDay } from './day-trace.ts';
import { dayBegins, dayMinutes, dayMoments, usualDay } from './day-trace.ts';

const namespace = 'bench-day';
const minuteMs = 60_000;

/** After so long without use they fall asleep: the least that is allowed, because it passes by clocks that are not moved. */
const afterIdle = '5m';

/** Until tenants that rest must sleep: readings are a minute apart. */
const restMs = 12 * minuteMs;

/** How long the pods are left alone after their start, and then measured, in the first rest. */
const [settleMs, measuredMs] = [60_000, 60_000];

/** What was seen of the calls of one tenant. */
interface SeenCalls {
  readonly firstMs: number[];
  readonly otherMs: number[];
  readonly failed: string[];
}

/** Replays a day, with all clocks moved from one call to the next. In rests it is waited, as `afterIdle` is measured by monotonic clocks. */
export async function measureDay(
  cluster: ManagementCluster,
  progress: Progress,
  day: readonly TenantDay[] = usualDay,
): Promise<readonly DayRow[]> {
  const stage = new TenantStage(cluster, namespace);
  await prepare(stage, day, progress);
  await using clocks = await MovedClocks.start({ harness: cluster.name });
  const evening = Date.now();
  const calls = new Map<string, SeenCalls>(day.map(({ tenant }) => [tenant, { firstMs: [], otherMs: [], failed: [] }]));
  const comeTo = async (minute: number): Promise<void> => {
    const ahead = evening + minute * minuteMs - Date.now();
    if (ahead > 0) await clocks.forward(Math.ceil(ahead / 1000));
  };
  let pod: PodNeeds | undefined;
  for (const { at, calls: callers, rests } of dayMoments(day)) {
    await comeTo(at);
    for (const caller of callers) await call(stage, caller, calls.get(caller.tenant));
    if (rests.length === 0) continue;
    pod ??= await podNeeds(cluster, day.length);
    await asleep(stage, rests);
    progress(
      timeText(at),
      `${rests.join(', ')} asleep ${((Date.now() - evening) / minuteMs - at).toFixed(1)} minutes later`,
    );
  }
  await comeTo(dayMinutes);
  const rows: DayRow[] = [];
  for (const { tenant, uses } of day) {
    const seen = calls.get(tenant) ?? { firstMs: [], otherMs: [], failed: [] };
    const now = new Date();
    rows.push({
      tenant,
      used: uses.map(({ from, to }) => `${timeText(from)} to ${timeText(to)}`).join(', ') || 'never',
      hours: (now.getTime() - evening) / 60 / minuteMs,
      ...readLedger(await sleepOf(stage, tenant), now),
      wantedWakes: uses.length,
      ...seen,
      pod: pod ?? { memoryMiB: 0, cores: 0 },
    });
  }
  await cluster.kubectl(['delete', 'namespace', namespace, '--timeout=120s'], { timeoutMs: 130_000 });
  return rows;
}

/** Starts the activator and the tenants; resolves when all of them are Ready. */
async function prepare(stage: TenantStage, day: readonly TenantDay[], progress: Progress): Promise<void> {
  const { cluster } = stage;
  await installActivator(cluster);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  const { kubernetes: version } = cluster.machine.record;
  const spec = { kubernetes: { version }, sleep: { afterIdle, wakeOn: ['Request'] } };
  await cluster.apply(day.map(({ tenant }) => stage.manifest(tenant, spec)));
  for (const { tenant } of day) {
    await stage.waitFor(tenant, 'Ready');
    progress('tenant', `${tenant} is Ready`);
  }
}

/** Calls as a person does, and notes how long it took. */
async function call(stage: TenantStage, { tenant, isFirst }: DayCall, seen: SeenCalls | undefined): Promise<void> {
  const kubeconfig = await stage.kubeconfigFile(tenant);
  const began = performance.now();
  try {
    await stage.cluster.kubectl(['--kubeconfig', kubeconfig, 'get', 'namespaces', '--output', 'name']);
    seen?.[isFirst ? 'firstMs' : 'otherMs'].push(performance.now() - began);
  } catch (error) {
    seen?.failed.push((error as Error).message);
  }
}

async function sleepOf(stage: TenantStage, tenant: string): Promise<SleepLedger> {
  const found = await stage.cluster.client.read(stage.tenant(tenant));
  return found?.status?.sleep ?? {};
}

/** Waits until tenants sleep and have no pods anymore. */
async function asleep(stage: TenantStage, tenants: readonly string[]): Promise<void> {
  for (const tenant of tenants) {
    for (const latest = performance.now() + restMs; !(await isAsleep(stage, tenant));) {
      if (performance.now() > latest) throw new Error(`${tenant} does not sleep.\n${await stage.diagnose(tenant)}`);
      await pause(2000);
    }
  }
}

async function isAsleep(stage: TenantStage, tenant: string): Promise<boolean> {
  return (await sleepOf(stage, tenant)).state === 'Asleep' && (await stage.pods(tenant)).length === 0;
}

/** What a pod takes while nobody calls: an average over all. */
async function podNeeds(cluster: ManagementCluster, tenants: number): Promise<PodNeeds> {
  await pause(settleMs);
  const pids = await podProcesses(cluster, namespace);
  const [before, from] = [await usageOf(pids), performance.now()];
  await pause(measuredMs);
  const [after, to] = [await usageOf(pids), performance.now()];
  const cores = (after.cpuSeconds - before.cpuSeconds) / ((to - from) / 1000) / tenants;
  return { memoryMiB: after.anonymousMiB / tenants, cores };
}

/** The time on the clock of a minute of the day. */
function timeText(passed: number): string {
  const minute = (dayBegins + passed) % dayMinutes;
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
