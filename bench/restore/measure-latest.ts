import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { differencesOf, findObjects } from './found-objects.ts';
import { furnitureNamespace, historyNamespace, patienceMs } from './lost-tenant.ts';
import type { LostData, LostTenant } from './lost-tenant.ts';
import { completion } from './restore-completion.ts';
import type { LatestRestore, RestoreRow, WorkerReturn } from './restore-rows.ts';

/** How long a worker may take to come back before it is given up. */
const workerMs = 180_000;

/** Creates the destroyed tenant again from its last known moment, while its first write is tried all the time. */
export async function measureLatest(
  tenant: LostTenant,
  { furniture, history, runs }: LostData,
): Promise<{ readonly latest: LatestRestore; readonly worker: WorkerReturn; readonly bytes: number }> {
  const { stage } = tenant;
  const begunAt = Date.now();
  await stage.cluster.apply(await tenant.manifest('restore.yaml'));
  const [{ completeMs, dataMs, bytes }, firstWriteMs] = await Promise.all([
    completion(stage, `${tenant.name}-again`, begunAt),
    firstWrite(tenant, begunAt),
  ]);
  const worker = await workerReturn(tenant, { begunAt, runs });
  const { connection } = tenant.client;
  const left = differencesOf(furniture, await findObjects(connection, furnitureNamespace));
  const written = await findObjects(connection, historyNamespace);
  const verdict = history.compare(written);
  return {
    latest: {
      ...history.loss(written, verdict),
      ...{ completeMs, dataMs, firstWriteMs, compared: furniture.size + written.size },
      differences: [...left, ...verdict.differences].slice(0, 20),
    },
    worker,
    bytes,
  };
}

/** From the creation of the restore until a write was answered. */
async function firstWrite(tenant: LostTenant, begunAt: number): Promise<number> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'after-restore', namespace: 'default' } };
  for (let failure = ''; ;) {
    // Each time over a new connection: one that was opened earlier may hang.
    const { connection } = tenant.client;
    try {
      await connection.send({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body });
      return Date.now() - begunAt;
    } catch (error) {
      failure = (error as Error).message;
    } finally {
      await connection.close();
    }
    if (Date.now() - begunAt > patienceMs) throw new Error(`No write was answered after the restore: ${failure}`);
    await pause(100);
  }
}

/** Whether the node is heard of again, and whether what runs on it is what was there before. */
async function workerReturn(
  tenant: LostTenant,
  { begunAt, runs }: { readonly begunAt: number; readonly runs: unknown },
): Promise<RestoreRow['worker']> {
  const { client } = tenant;
  const name = `${tenant.name}-worker`;
  const since = new Date(begunAt).toISOString();
  // The node itself was Ready in the backup.
  const isRenewed = (lease: PlainObject | undefined): boolean =>
    ((lease?.spec ?? {}) as { readonly renewTime?: string }).renewTime?.localeCompare(since) === 1;
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'kube-node-lease', name };
  const isBack = await client
    .waitFor(lease, isRenewed, { timeoutMs: workerMs })
    .then(() => client.waitFor({ apiVersion: 'v1', kind: 'Node', name }, 'Ready', { timeoutMs: workerMs }))
    .then(
      () => true,
      () => false,
    );
  const backMs = Date.now() - begunAt;
  const isSame = JSON.stringify(await tenant.runs()) === JSON.stringify(runs);
  return { ...(isBack && { backMs }), isSame };
}
