import { loadavg } from 'node:os';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { TenantStage } from '../../e2e/framework/tenant-stage.ts';
import type { BenchRun } from '../figure.ts';
import type { FloodStore } from '../flood/flood-rows.ts';
import { openFloodedStore } from '../flood/flooded-store.ts';
import { enableBackups } from './backup-page.ts';
import { measureChosen } from './measure-chosen.ts';
import { measureLatest } from './measure-latest.ts';
import { LostTenant } from './lost-tenant.ts';
import type { RestoreRow } from './restore-rows.ts';

/** Where the page of backups has its tenants. */
const namespace = 'tenants';

/** Of why a datastore could not be measured, the characters that are recorded; all of it is printed. */
const mostOfMessage = 300;

const loadNow = (): number => loadavg()[0] ?? 0;

/** Destroys and restores a tenant of each datastore, one after the other. One that cannot be measured has a row that says why. */
export async function measureRestore(cluster: ManagementCluster, run: BenchRun): Promise<readonly RestoreRow[]> {
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  await enableBackups(cluster, namespace);
  const rows: RestoreRow[] = [];
  for (const store of run.options.stores) {
    try {
      rows.push(await measureStore(new TenantStage(cluster, namespace), store, run));
    } catch (error) {
      const { message } = error as Error;
      run.progress(store, message);
      rows.push(unmeasured(store, message.slice(0, mostOfMessage)));
    }
  }
  return rows;
}

async function measureStore(stage: TenantStage, store: FloodStore, run: BenchRun): Promise<RestoreRow> {
  const { options } = run;
  await using installed = await openFloodedStore(stage.cluster, store, run.progress);
  const progress = (step: string, detail?: string): void => {
    run.progress(`${store}, ${step}`, detail);
  };
  await using tenant = await LostTenant.create(stage, { store, dataStore: installed.dataStore, progress });
  await tenant.fill(options.objects);
  await tenant.backUp();
  const lost = await tenant.writeAndDestroy(options.writingSeconds);
  const { latest, worker, bytes } = await measureLatest(tenant, lost);
  progress('restored', JSON.stringify({ ...latest, worker, bytes }).slice(0, 1000));
  const chosen = await measureChosen(tenant, lost);
  progress('restored to a second', JSON.stringify(chosen).slice(0, 1000));
  const { furniture, history } = lost;
  return { store, objects: furniture.size, bytes, history: history.counts, latest, worker, chosen, load: loadNow() };
}

function unmeasured(store: FloodStore, problem: string): RestoreRow {
  const compared = { compared: 0, differences: [], completeMs: 0, dataMs: 0 };
  return {
    ...{ store, objects: 0, bytes: 0, problem, load: loadNow() },
    history: { acknowledged: 0, seconds: 0, perSecond: 0, failed: 0 },
    latest: { rpoMs: 0, lost: 0, lostOlder: 0, firstWriteMs: 0, ...compared },
    worker: { isSame: false },
    chosen: { moment: '', restoredTime: '', bytes: 0, missing: 0, early: 0, beforeMs: 0, ...compared },
  };
}
