import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { endPods } from '../ready/contender.ts';
import { addTenant } from './add-tenant.ts';
import { footprintBetween } from './footprint-between.ts';
import type { Footprint } from './footprint-between.ts';
import { restartManager, sampleManager } from './manager-process.ts';
import { tenantApiVersion } from '../ready/tenant.ts';

const namespace = 'bench-footprint';

/** How much is measured. */
export interface FootprintOptions {
  /** Ascending. */
  readonly tenants: readonly number[];
  readonly idleSeconds: number;
}

/** Measures what the manager needs for idle tenants, starting with a restarted manager, with more and more of them. */
export async function measureFootprint(
  cluster: ManagementCluster,
  { tenants, idleSeconds }: FootprintOptions,
): Promise<readonly Footprint[]> {
  const { progress } = cluster.harness;
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  await removeTenants(cluster);
  const manager = await restartManager(cluster);
  const found: Footprint[] = [];
  let running = 0;
  try {
    for (const wanted of tenants) {
      const before = running;
      const atStart = await sampleManager(manager);
      for (; running < wanted; running += 1) {
        progress('footprint', `tenant ${running + 1} of ${wanted}`);
        await addTenant(cluster, { name: `tenant-${running}`, namespace, replicas: 1 });
      }
      const created = await sampleManager(manager);
      progress('footprint', `${wanted} tenants rest for ${idleSeconds} s, then are looked at for as long`);
      await pause(idleSeconds * 1000, undefined, { signal: cluster.harness.signal });
      const from = await sampleManager(manager);
      await pause(idleSeconds * 1000, undefined, { signal: cluster.harness.signal });
      const rested = [from, await sampleManager(manager)] as const;
      found.push(footprintBetween({ tenants: [before, wanted], atStart, created, rested }));
    }
    return found;
  } finally {
    await removeTenants(cluster);
  }
}

async function removeTenants(cluster: ManagementCluster): Promise<void> {
  const tenants = await cluster.client.list(tenantApiVersion, 'TenantControlPlane', namespace);
  const addresses = tenants.map(({ metadata }) => ({
    apiVersion: tenantApiVersion,
    kind: 'TenantControlPlane',
    namespace,
    name: metadata?.name ?? '',
  }));
  await Promise.all(addresses.map((address) => cluster.client.delete(address)));
  for (const address of addresses) {
    await cluster.waitFor(address, (object) => object === undefined, { timeoutMs: 180_000, what: 'being gone' });
  }
  await endPods(cluster, namespace);
}
