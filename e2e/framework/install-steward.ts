import { existsSync } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { ApiError } from '../cluster/api-connection.ts';
import type { Harness } from '../cluster/harness.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { slowness } from '../cluster/slowness.ts';
import { writeManagerImage } from '../../release/manager-image.ts';
import { resolveTools } from '../tools/resolve.ts';
import { isRolledOut } from './load/bare-rollout.ts';

const root = path.join(import.meta.dirname, '../..');

/** Environment variable: path of an image archive of the manager, built from the sources that are under test. */
export const builtManagerVariable = 'STEWARD_E2E_BUILT_MANAGER';

/** Builds the manager's image into the harness, where `loadManagerImage` finds it; with helm in it where cluster stacks are wanted. */
export async function buildManagerImage({ folder, progress }: Harness, withHelm = false): Promise<void> {
  const archive = archiveIn(folder);
  const built = process.env[builtManagerVariable] ?? '';
  if (built !== '' && !withHelm) {
    await copyFile(built, `${archive}.new`);
  } else {
    progress('manager', 'building its image');
    const tools = withHelm ? await resolveTools(['helm']) : undefined;
    await writeManagerImage(`${archive}.new`, tools);
  }
  await rename(`${archive}.new`, archive);
}

/** Makes the manager's image known to the management node: the one that was built beforehand, or else a new one. */
export async function loadManagerImage(cluster: ManagementCluster): Promise<void> {
  const { harness } = cluster;
  const archive = archiveIn(harness.folder);
  if (!existsSync(archive)) await buildManagerImage(harness);
  harness.progress('manager', 'loading its image');
  await cluster.loadImage(archive);
  // The next one to be loaded is to be built from the sources of that time.
  await rm(archive);
}

const archiveIn = (folder: string): string => path.join(folder, 'steward.tar');

/** Installs definitions, rights, webhooks and the manager from `config/default`, as for a cluster without Cluster API. */
export async function installSteward(cluster: ManagementCluster): Promise<void> {
  await loadManagerImage(cluster);
  cluster.harness.progress('manager', 'starting');
  await cluster.apply(await kustomize('config/default'));
  await managerIsAvailable(cluster);
}

/** Waits until the manager's Deployment is rolled out, and no earlier manager is left that could answer in its place. */
export async function managerIsAvailable(cluster: ManagementCluster): Promise<void> {
  const namespace = 'steward-system';
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'steward-controller-manager' };
  await cluster.waitFor(deployment, isRolledOut, { timeoutMs: 120_000, what: 'the rollout of the manager' });
  const pods = await cluster.client.list('v1', 'Pod', namespace, 'control-plane=controller-manager');
  for (const { metadata } of pods) {
    if (metadata?.deletionTimestamp === undefined) continue;
    const pod = { apiVersion: 'v1', kind: 'Pod', namespace, name: metadata.name ?? '' };
    await cluster.waitFor(pod, (object) => object?.metadata?.uid !== metadata.uid, {
      what: 'the end of an old manager',
    });
  }
  await admissionAnswers(cluster);
}

/** Waits until the API server reaches the webhooks: kube-proxy learns of a ready pod a little later than the Deployment. */
async function admissionAnswers({ client: { connection } }: ManagementCluster): Promise<void> {
  const kind = 'TenantControlPlane';
  const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
  const asked = {
    method: 'POST',
    path: await connection.pathOf(apiVersion, kind, undefined, 'default'),
    query: { dryRun: 'All' },
    body: { apiVersion, kind, metadata: { name: 'asked' }, spec: {} },
  } as const;
  const deadline = Date.now() + 30_000 * slowness();
  for (;;) {
    try {
      await connection.send(asked);
      return;
    } catch (error) {
      // A refusal is an answer too.
      if (error instanceof ApiError && error.code < 500) return;
      if (Date.now() > deadline) throw error;
    }
    await pause(100);
  }
}

/**
 * Installs the quick-start etcd with its DataStore `default`; resolves when the manager calls it Ready.
 * @param overlay folder below `config/datastores`.
 */
export async function installDataStore(cluster: ManagementCluster, overlay = 'etcd'): Promise<void> {
  cluster.harness.progress('datastore', 'starting etcd');
  await cluster.apply(await kustomize(`config/datastores/${overlay}`));
  const store = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: 'default' };
  await cluster.waitFor(store, 'Ready', {
    timeoutMs: 120_000,
    diagnose: () => cluster.diagnose('steward-system'),
  });
}

/** The manifests of a kustomization of this repository, as YAML. */
export async function kustomize(folder: string): Promise<string> {
  const tools = await resolveTools(['kustomize']);
  const { stdout } = await runCommand(tools.kustomize, ['build', path.join(root, folder)]);
  return stdout;
}
