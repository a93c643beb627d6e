import type { ScaleFleet, TenantKind } from '../fleet/scale-fleet.ts';
import { requestsBetween } from '../scale-rows.ts';
import type { CreationCost, StandInRow } from '../scale-rows.ts';

const rounds = 3;

/**
 * Creates tenants with real API servers and tenants of the stand-in, one after the other and in turn, so that what the manager does with
 * both can be compared. None is left.
 */
export async function measureStandIn(fleet: ScaleFleet): Promise<StandInRow> {
  // The first one pays for what is compiled.
  await fleet.create(1, 'compared');
  await fleet.manager.begin();
  const costs: Record<'compared' | 'real', CreationCost[]> = { compared: [], real: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const kind of ['compared', 'real'] as const) costs[kind].push(await measureCreation(fleet, kind));
  const { lagP99Ms, lagMaxMs } = await fleet.manager.look();
  await fleet.deleteAll();
  return {
    ...{ stage: 'standin', tenants: rounds, lagP99Ms, lagMaxMs },
    standIn: costs.compared,
    real: costs.real,
  };
}

async function measureCreation(fleet: ScaleFleet, kind: TenantKind): Promise<CreationCost> {
  await fleet.quiet();
  const before = await fleet.manager.look();
  const [readyMs = 0] = await fleet.create(1, kind);
  const after = await fleet.manager.look();
  return {
    readyMs,
    cpuMs: Math.round((after.cpuSeconds - before.cpuSeconds) * 1000),
    managementRequests: requestsBetween(before.managementRequests, after.managementRequests),
    tenantCalls: requestsBetween(before.tenantCalls, after.tenantCalls),
  };
}
