import { differencesOf, findObjects } from './found-objects.ts';
import { furnitureNamespace, historyNamespace, patienceMs } from './lost-tenant.ts';
import type { LostData, LostTenant } from './lost-tenant.ts';
import { completion } from './restore-completion.ts';
import type { ChosenRestore } from './restore-rows.ts';

/** Restores a second in the middle of the history into a tenant beside, and compares it with what there was at that second. */
export async function measureChosen(tenant: LostTenant, { furniture, history }: LostData): Promise<ChosenRestore> {
  const { stage, clone } = tenant;
  const { cluster } = stage;
  const moment = history.middle;
  await tenant.createClone();
  const begunAt = Date.now();
  await cluster.apply([
    {
      ...{ apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantRestore' },
      metadata: { name: clone, namespace: stage.namespace },
      spec: {
        ...{ tenantControlPlaneName: clone, type: 'Clone', source: { policyName: tenant.name } },
        toTime: moment.toISOString(),
      },
    },
  ]);
  const completed = await completion(stage, clone, begunAt);
  await cluster.client.merge(stage.tenant(clone), { spec: { controlPlane: { deployment: { replicas: 1 } } } });
  const isReady = 'Ready';
  await stage.waitFor(clone, isReady, { timeoutMs: patienceMs });
  const { connection } = await stage.open(clone);
  const left = differencesOf(furniture, await findObjects(connection, furnitureNamespace));
  const written = await findObjects(connection, historyNamespace);
  const verdict = history.compare(written);
  return {
    ...{ moment: moment.toISOString(), ...completed, ...history.nearness(written, verdict, moment) },
    compared: furniture.size + written.size,
    differences: [...left, ...verdict.differences].slice(0, 20),
  };
}
