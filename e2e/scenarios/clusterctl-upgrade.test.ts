import { cp } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ClusterApi } from '../cluster/cluster-api.ts';
import { installClusterApi } from '../cluster/cluster-api.ts';
import type { LocalProvider } from '../cluster/clusterctl-repository.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { startManagementCluster } from '../cluster/management-cluster.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { InfrastructureProvider } from '../infrastructure/provider.ts';
import { writeProviderRelease } from '../../release/provider-release.ts';
import { clusterManifests } from '../framework/cluster-api/cluster-manifests.ts';
import { capiVersion } from '../framework/cluster-api/cluster-stage.ts';
import { expectUnharmed } from '../framework/load/expect-unharmed.ts';
import {
  buildManagerImage,
  installDataStore,
  loadManagerImage,
  managerIsAvailable,
} from '../framework/install-steward.ts';
import { writePredecessorRelease } from '../framework/cluster-api/predecessor-release.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { logStep } from '../framework/log.ts';
import { underLoad } from '../framework/load/under-load.ts';
import { Workload } from '../framework/workload.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const name = owned.harness(`upgrade-${process.pid}`);
const shop = 'shop';
const controlPlaneGroup = 'controlplane.cluster.x-k8s.io';

let cluster: ManagementCluster;
let clusterApi: ClusterApi;
let workload: Workload;
let running: Promise<void> = Promise.resolve();
let releases: readonly [LocalProvider, LocalProvider];

beforeAll(async () => {
  // After the cluster, whose end ends it.
  owned.defer(() => running);
  // Its own: the manager is upgraded.
  cluster = owned.use(await startManagementCluster({ name, progress: logStep, meanwhile: buildManagerImage }));
  await loadManagerImage(cluster);
  const at = (version: string): string => path.join(cluster.harness.folder, 'releases', version);
  const first = await writeProviderRelease(at('first'));
  const next = await writeProviderRelease(at('next'), { version: first.version.replace(/\.\d+$/, '.99') });
  releases = [first, next];
  const before = await writePredecessorRelease(first, at('before'));
  clusterApi = await installClusterApi(cluster, { providers: [before] });
  const provider = new InfrastructureProvider(cluster, {
    signal: cluster.harness.signal,
    onError: (error) => {
      logStep('infrastructure', String(error));
    },
  });
  await provider.install();
  running = provider.run();
  workload = new Workload(cluster, shop);
}, 20 * minutes);

/** Puts a release where clusterctl looks for other versions of what it has installed. */
async function published({ version, folder }: LocalProvider): Promise<void> {
  const repository = path.join(path.dirname(clusterApi.configuration), 'repository', 'control-plane-steward');
  await cp(folder, path.join(repository, version), { recursive: true });
}

/** Brings the provider to a release by the real clusterctl. */
async function upgradedTo(release: LocalProvider): Promise<void> {
  await published(release);
  const wanted = `steward:${release.version}`;
  const { stdout } = await clusterApi.clusterctl(['upgrade', 'apply', '--control-plane', wanted], {
    timeoutMs: 3 * minutes,
    diagnose: () => cluster.diagnose('steward-system'),
  });
  logStep(`clusterctl upgrade apply ${wanted}`, `\n${stdout}`);
  await managerIsAvailable(cluster);
}

/** As a user of the provider in Go wrote it. */
const ofBefore: PlainObject = {
  apiVersion: `${controlPlaneGroup}/v1alpha1`,
  kind: 'StewardControlPlane',
  metadata: { name: shop, namespace: 'default' },
  spec: {
    version: 'v1.36.3',
    replicas: 2,
    dataStoreName: 'default',
    network: { serviceType: 'NodePort' },
    kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
    addons: { coreDNS: {}, kubeProxy: {} },
  },
};

async function podsOf(): Promise<readonly (string | undefined)[]> {
  const pods = await cluster.client.list('v1', 'Pod', 'default', `steward.butlerlabs.dev/name=${shop}`);
  return pods.map(({ metadata }) => metadata?.uid).toSorted();
}

async function definition(): Promise<PlainObject | undefined> {
  const at = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  return cluster.client.read({ ...at, name: `stewardcontrolplanes.${controlPlaneGroup}` });
}

describe('clusterctl', () => {
  test(
    'upgrades from a provider with v1alpha1 only, and existing objects become a control plane',
    async () => {
      expect((await definition())?.metadata?.labels).not.toHaveProperty(['cluster.x-k8s.io/v1beta2']);
      await cluster.apply([...clusterManifests(shop), ofBefore]);
      await upgradedTo(releases[0]);
      expect((await definition())?.metadata?.labels).toMatchObject({ 'cluster.x-k8s.io/v1beta2': 'v1alpha2' });
      await installDataStore(cluster);
      await workload.waitFor(workload.address, 'ControlPlaneAvailable', { timeoutMs: 3 * minutes });
      const same = await cluster.client.read(workload.at(`${controlPlaneGroup}/v1alpha1`, 'StewardControlPlane'));
      expect(same?.spec).toMatchObject(ofBefore.spec ?? {});
      expect(await podsOf()).toHaveLength(2);
    },
    8 * minutes,
  );

  test(
    'upgrades to the next release while control planes are used: no call fails, and none of their pods is replaced',
    async () => {
      const before = await podsOf();
      const users = {
        title: 'upgrade of the provider',
        kubeconfig: await workload.kubeconfig(),
        floor: cluster.client,
      };
      const seen = await underLoad(users, () => upgradedTo(releases[1]));
      expectUnharmed(seen);
      expect(await podsOf()).toEqual(before);
      const provider = {
        apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
        kind: 'Provider',
        namespace: 'steward-system',
      };
      const installed = await cluster.client.read({ ...provider, name: 'control-plane-steward' });
      expect(installed?.version).toBe(releases[1].version);
    },
    6 * minutes,
  );

  test(
    'deletes the provider and keeps its control planes, which continue, and which the next provider reconciles',
    async () => {
      const before = await podsOf();
      const users = { title: 'provider away and back', kubeconfig: await workload.kubeconfig(), floor: cluster.client };
      const seen = await underLoad(users, async () => {
        await clusterApi.clusterctl(['delete', '--control-plane', 'steward'], { timeoutMs: minutes });
        const at = {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          namespace: 'steward-system',
          name: 'steward-controller-manager',
        };
        await cluster.waitFor(at, (object) => object === undefined, { timeoutMs: minutes, what: 'its end' });
        await clusterApi.clusterctl(['init', '--control-plane', `steward:${releases[1].version}`], {
          timeoutMs: 3 * minutes,
        });
        await managerIsAvailable(cluster);
      });
      expectUnharmed(seen);
      expect(await podsOf()).toEqual(before);
      const at = workload.at(`${controlPlaneGroup}/v1alpha2`, 'StewardControlPlane');
      await cluster.client.merge(at, { spec: { replicas: 1 } });
      await workload.waitFor(at, (object) => object?.status?.replicas === 1, { what: 'one replica' });
    },
    6 * minutes,
  );

  test(
    'leaves nothing of a Cluster that is deleted',
    async () => {
      await cluster.client.delete(workload.address);
      await workload.waitFor(workload.address, (object) => object === undefined, { what: 'its end' });
      expect(await cluster.client.list(capiVersion, 'Cluster')).toEqual([]);
      expect(await cluster.client.list('steward.butlerlabs.dev/v1alpha1', 'TenantControlPlane')).toEqual([]);
    },
    3 * minutes,
  );
});
