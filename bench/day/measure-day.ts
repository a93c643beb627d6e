import { setTimeout as pause } from 'node:timers/promises';

import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { MovedClocks } from '../../e2e/framework/clock/moved-clocks.ts';
import { installActivator } from '../../e2e/framework/waking/install-activator.ts';
import { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { callTenant } from './call-tenant.ts';
import type { SeenTenant } from './call-tenant.ts';
import type { DayRow, PodNeeds, SleepLedger } from './day-rows.ts';
import { readLedger } from './day-rows.ts';
import type { TenantDay } from './day-trace.ts';
import { podNeeds } from './pod-needs.ts';
import { afterIdleMinutes, dayBegins, dayMinutes, dayMoments, usualDay } from './day-trace.ts';

const namespace = 'bench-day';
const minuteMs = 60_000;

/** Until tenants that rest must sleep: readings are a minute apart. */
const restMs = 12 * minuteMs;

/** How long other processes are given, after a jump of more than an hour, for what it makes due. */
const jumpMs = 10_000;

/**
 * Replays a day, with all clocks moved from one call to the next. The tenants are left: tokens of the day are not valid yet when the clocks are back. In rests it
 * is waited, because `afterIdle` is measured by monotonic clocks.
 */
export async function measureDay(
  cluster: ManagementCluster,
  progress: Progress,
  day: readonly TenantDay[] = usualDay,
): Promise<readonly DayRow[]> {
  const stage = new TenantStage(cluster, namespace);
  const tenants = await prepare(stage, day, progress);
  return replay(stage, { day, tenants, progress, pod: await podNeeds(cluster, namespace, day.length) });
}

/** What is replayed. */
interface Replay {
  readonly day: readonly TenantDay[];
  readonly tenants: ReadonlyMap<string, SeenTenant>;
  readonly pod: PodNeeds;
  readonly progress: Progress;
}

async function replay(stage: TenantStage, { day, tenants, pod, progress }: Replay): Promise<readonly DayRow[]> {
  const { cluster } = stage;
  const seenOf = (tenant: string): SeenTenant => {
    const seen = tenants.get(tenant);
    if (seen === undefined) throw new Error(`${tenant} is no tenant of this day`);
    return seen;
  };
  await using clocks = await MovedClocks.start({ harness: cluster.name });
  const evening = Date.now();
  const comeTo = async (minute: number): Promise<void> => {
    const ahead = evening + minute * minuteMs - Date.now();
    if (ahead <= 0) return;
    await clocks.forward(Math.ceil(ahead / 1000));
    if (ahead > 60 * minuteMs) await pause(jumpMs);
  };
  for (const { at, calls, rests } of dayMoments(day)) {
    await comeTo(at);
    for (const { tenant, isFirst } of calls)
      await callTenant(cluster, { tenant, isFirst, seen: seenOf(tenant), progress });
    if (rests.length === 0) continue;
    for (const tenant of await stillAwake(stage, rests)) {
      progress(tenant, `it does not sleep.\n${await stage.diagnose(tenant)}`);
      seenOf(tenant).late.push(timeText(at));
    }
    progress(
      timeText(at),
      `${rests.join(', ')} rested for ${((Date.now() - evening) / minuteMs - at).toFixed(1)} minutes`,
    );
  }
  await comeTo(dayMinutes);
  const rows: DayRow[] = [];
  for (const { tenant, uses } of day) {
    const { firstMs, otherMs, failed, late } = seenOf(tenant);
    const now = new Date();
    rows.push({
      tenant,
      used: uses.map(({ from, to }) => `${timeText(from)} to ${timeText(to)}`).join(', ') || 'never',
      hours: (now.getTime() - evening) / 60 / minuteMs,
      ...readLedger(await sleepOf(stage, tenant), now),
      wantedWakes: uses.length,
      ...{ firstMs, otherMs, failed, late, pod },
    });
  }
  progress('day', JSON.stringify(rows));
  return rows;
}

/** Starts the activator and the tenants; resolves when all of them are Ready. */
async function prepare(
  stage: TenantStage,
  day: readonly TenantDay[],
  progress: Progress,
): Promise<ReadonlyMap<string, SeenTenant>> {
  const { cluster } = stage;
  await installActivator(cluster);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  const { kubernetes: version } = cluster.machine.record;
  const spec = { kubernetes: { version }, sleep: { afterIdle: `${afterIdleMinutes}m`, wakeOn: ['Request'] } };
  await cluster.apply(day.map(({ tenant }) => stage.manifest(tenant, spec)));
  const seen = new Map<string, SeenTenant>();
  for (const { tenant } of day) {
    await stage.waitFor(tenant, 'Ready', { timeoutMs: 4 * minuteMs });
    progress('tenant', `${tenant} is Ready`);
    const kubeconfig = await stage.kubeconfigFile(tenant);
    seen.set(tenant, { kubeconfig, firstMs: [], otherMs: [], failed: [], late: [], waitsSince: undefined });
  }
  return seen;
}

async function sleepOf(stage: TenantStage, tenant: string): Promise<SleepLedger> {
  const found = await stage.cluster.client.read(stage.tenant(tenant));
  return found?.status?.sleep ?? {};
}

/** Waits until tenants sleep and have no pods anymore; returns those that do not in time. */
async function stillAwake(stage: TenantStage, tenants: readonly string[]): Promise<readonly string[]> {
  let awake = tenants;
  for (const latest = performance.now() + restMs; ;) {
    const are = await Promise.all(awake.map((tenant) => isAsleep(stage, tenant)));
    awake = awake.filter((_, at) => are[at] !== true);
    if (awake.length === 0 || performance.now() > latest) return awake;
    await pause(2000);
  }
}

async function isAsleep(stage: TenantStage, tenant: string): Promise<boolean> {
  return (await sleepOf(stage, tenant)).state === 'Asleep' && (await stage.pods(tenant)).length === 0;
}

/** The time on the clock of a minute of the day. */
function timeText(passed: number): string {
  const minute = (dayBegins + passed) % dayMinutes;
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}
