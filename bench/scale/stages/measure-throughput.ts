import type { ScaleFleet } from '../fleet/scale-fleet.ts';
import { requestsBetween } from '../scale-rows.ts';
import type { ThroughputRow } from '../scale-rows.ts';

/** Creates tenants at once where there are none, with a manager that has just been started. */
export async function measureThroughput(fleet: ScaleFleet, tenants: number): Promise<ThroughputRow> {
  await fleet.quiet();
  const [askedBefore, before] = [await fleet.standIn.counts(), await fleet.manager.begin()];
  const readyMs = await fleet.create(tenants);
  const [after, askedAfter] = [await fleet.manager.look(), await fleet.standIn.counts()];
  return {
    ...{ stage: 'throughput', tenants, readyMs, lagP99Ms: after.lagP99Ms, lagMaxMs: after.lagMaxMs },
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    managementRequests: requestsBetween(before.managementRequests, after.managementRequests),
    tenantRequests: requestsBetween(askedBefore.asked, askedAfter.asked),
  };
}
