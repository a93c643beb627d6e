import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { issueCertificates } from '../cluster/cluster-api.ts';
import { CertManagerStandIn } from '../cluster/cert-manager-stand-in.ts';
import { buildClusterApiProviders } from '../cluster/clusterctl-repository.ts';
import { hasCondition } from '../cluster/kubernetes-client.ts';
import { startManagementCluster } from '../cluster/management-cluster.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { InfrastructureProvider } from '../infrastructure/provider.ts';
import { clusterManifests, controlPlaneManifest } from '../framework/cluster-api/cluster-manifests.ts';
import { consoleBlocks } from '../framework/console-blocks.ts';
import { HowToPage, openHowTo } from '../framework/how-to-page.ts';
import { buildManagerImage, loadManagerImage } from '../framework/install-steward.ts';
import { ReadersHome } from '../framework/home-folder.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { logStep } from '../framework/log.ts';
import { Workload } from '../framework/workload.ts';
import { resolveTools } from '../tools/resolve.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const name = owned.harness(`quick-${process.pid}`);
const root = path.join(import.meta.dirname, '..', '..');

let cluster: ManagementCluster;
let home: ReadersHome;
let running: Promise<void> = Promise.resolve();

/** An empty management cluster that has the image. */
beforeAll(async () => {
  // After the cluster, whose end ends it.
  owned.defer(() => running);
  cluster = owned.use(await startManagementCluster({ name, progress: logStep, meanwhile: buildManagerImage }));
  await loadManagerImage(cluster);
  home = new ReadersHome(path.join(cluster.harness.folder, 'home'));
  await mkdir(home.folder);
}, 20 * minutes);

/** The quick start of the README under this heading, line by line. */
async function quickStart(heading: string): Promise<{ readonly page: HowToPage; readonly lines: number }> {
  const blocks = consoleBlocks(await readFile(path.join(root, 'README.md'), 'utf8'));
  const lines = blocks
    .filter((block) => block.heading === heading)
    .flatMap(({ commands }) => commands.split('\n').map((line) => ({ heading, commands: line })));
  const { helm, clusterctl } = await resolveTools(['helm', 'clusterctl']);
  const reader = { programs: [helm, clusterctl], variables: home.variables };
  return { page: new HowToPage(cluster, lines, reader), lines: lines.length };
}

const tenantVersion = 'steward.butlerlabs.dev/v1alpha1';

describe('An empty management cluster', () => {
  test(
    'has Steward, a DataStore and a control plane after the five lines with Helm, and none of them after the uninstallation',
    async () => {
      const heading = 'Five lines with Helm';
      const { page, lines } = await quickStart(heading);
      expect(lines).toBe(5);
      for (let line = 0; line < lines; line += 1) logStep(`helm, line ${line + 1}`, await page.run(heading));
      const sample = path.join(root, 'config', 'samples', 'steward_v1alpha1_tenantcontrolplane.yaml');
      await cluster.apply(await readFile(sample, 'utf8'));
      const tenant = { apiVersion: tenantVersion, kind: 'TenantControlPlane', namespace: 'default', name: 'tenant-00' };
      await cluster.waitFor(tenant, 'Ready', { timeoutMs: 3 * minutes });
      logStep('helm', 'tenant-00 is Ready');
      await cluster.client.delete(tenant);
      await cluster.waitFor(tenant, (object) => object === undefined, { what: 'its end' });
      const started = await openHowTo(cluster, 'get-started', { folder: home.folder });
      await started.run('4. A tenant');
      await started.run('4. A tenant');
      expect(await started.run('5. Use it')).toMatch(/^kube-system +Active/m);
      await started.run('7. Clean up');
      // The tests have no Docker, and the commands with helm are those of the README.
      expect(started.untried).toEqual(['1. A cluster', '1. A cluster', '2. The image', '3. Steward and an etcd']);
      logStep('helm', 'the first tenant of the page has come and gone');
      const { helm } = await resolveTools(['helm']);
      await cluster.kubectl(['delete', 'datastore', 'default', '--wait']);
      const away = [{ heading: 'away', commands: 'helm uninstall steward steward-crds -n steward-system --wait' }];
      await new HowToPage(cluster, away, { programs: [helm], variables: home.variables }).run('away');
      await cluster.kubectl(['delete', 'namespace', 'steward-system', '--wait'], { timeoutMs: 2 * minutes });
      const { stdout } = await cluster.kubectl(['get', 'crd', '-o', 'name']);
      const definitions = stdout.split('\n').filter((line) => line.includes('steward'));
      // Definitions stay, with what people have made of them.
      if (definitions.length > 0) await cluster.kubectl(['delete', ...definitions]);
    },
    12 * minutes,
  );

  test(
    'has Steward, a DataStore and a Cluster whose control plane is available after the five lines with clusterctl',
    async () => {
      const heading = 'Five lines with clusterctl';
      const { page, lines } = await quickStart(heading);
      expect(lines).toBe(5);
      await page.run(heading);
      const own = await buildClusterApiProviders(path.join(home.folder, 'built'), logStep);
      const providers = [...own, await home.infrastructure('docker')];
      await home.addProviders('steward-clusterctl.yaml', providers);
      const certificates = new CertManagerStandIn(cluster.client);
      await issueCertificates(certificates, cluster, providers);
      logStep('clusterctl, line 2', await page.run(heading));
      await certificates.inject();
      for (let line = 2; line < lines; line += 1) logStep(`clusterctl, line ${line + 1}`, await page.run(heading));
      expect(page.untried).toEqual([]);
      const { signal } = cluster.harness;
      const onError = (error: unknown): void => {
        logStep('infrastructure', String(error));
      };
      running = new InfrastructureProvider(cluster, { signal, onError }).run();
      const workload = new Workload(cluster, 'first');
      await cluster.apply([...clusterManifests('first'), controlPlaneManifest('first')]);
      const seen = await workload.waitFor(workload.address, 'ControlPlaneAvailable', { timeoutMs: 3 * minutes });
      expect(hasCondition('ControlPlaneInitialized')(seen)).toBe(true);
      logStep('clusterctl', 'the control plane of the Cluster is available');
      await cluster.client.delete(workload.address);
      await workload.waitFor(workload.address, (object) => object === undefined, { what: 'its end' });
    },
    12 * minutes,
  );
});
