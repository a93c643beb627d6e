import { setTimeout as pause } from 'node:timers/promises';

import type { ScaleFleet } from '../fleet/scale-fleet.ts';
import { requestsBetween } from '../scale-rows.ts';
import type { RestRow } from '../scale-rows.ts';

/** Looks at the manager while nothing happens, after a rest as long as the look. */
export async function measureRest(fleet: ScaleFleet, idleSeconds: number): Promise<RestRow> {
  await pause(idleSeconds * 1000);
  const [askedBefore, before] = [await fleet.standIn.counts(), await fleet.manager.begin()];
  await pause(idleSeconds * 1000);
  const [after, askedAfter] = [await fleet.manager.look(), await fleet.standIn.counts()];
  const seconds = (after.at - before.at) / 1000;
  return {
    ...{ stage: 'rest', tenants: fleet.tenants.list().length, idleSeconds, seconds },
    ...{ rssMiB: after.rssMiB, heapMiB: after.heapMiB, lagP99Ms: after.lagP99Ms, lagMaxMs: after.lagMaxMs },
    cpuPercent: ((after.cpuSeconds - before.cpuSeconds) / seconds) * 100,
    managementRequests: requestsBetween(before.managementRequests, after.managementRequests),
    tenantRequests: requestsBetween(askedBefore.asked, askedAfter.asked),
    connections: Object.fromEntries(
      [...Map.groupBy(askedAfter.connections, (open) => open)].map(([open, tenants]) => [open, tenants.length]),
    ),
  };
}
