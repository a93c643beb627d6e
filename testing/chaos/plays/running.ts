import type { TenantControlPlaneChanges } from '../../builders/tenant-control-plane.ts';
import { publishAuthorities } from '../../worlds/rotating-tenant.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

/** Long enough for every operation that nothing disturbs. In seconds. */
const longest = 600;

/** Leads a new world to a tenant that runs and is used. */
export async function running(world: ChaosWorld, changes: TenantControlPlaneChanges = {}): Promise<void> {
  await world.create(changes);
  world.startManager('pod-0');
  await until(world, 'the tenant is ready', () => tenantIsReady(world));
  await publishAuthorities(world);
  await world.pass(10);
}

/** Lets a world that nothing disturbs go on. Throws unless the goal is reached. */
export async function until(world: ChaosWorld, goal: string, reached: () => Promise<boolean>): Promise<void> {
  if (await world.goOn(longest, reached)) return;
  const { conditions = [] } = (await world.read()).status ?? {};
  const shown = conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason} ${message}`);
  throw new Error(`it does not come to this: ${goal}; ${shown.join('; ')}`);
}
