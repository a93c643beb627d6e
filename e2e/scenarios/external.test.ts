import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { forwardBetween } from '../cluster/network/forward-between.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import { parseManifests } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { crds } from '../infrastructure/kinds.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { startClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { capiVersion, generateWorkload } from '../framework/cluster-api/cluster-stage.ts';
import { expectUnharmed } from '../framework/load/expect-unharmed.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { managerIsAvailable } from '../framework/install-steward.ts';
import { writeContexts } from '../framework/kubeconfig-contexts.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { storeContents } from '../framework/store-contents.ts';
import { logStep } from '../framework/log.ts';
import { underLoad } from '../framework/load/under-load.ts';
import { Workload } from '../framework/workload.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const fleet = 'fleet';
const blue = 'blue';
const names = ['first', 'second'].map((which) => owned.harness(`external-${which}-${process.pid}`));
const controlPlaneVersion = 'controlplane.cluster.x-k8s.io/v1alpha2';
const tenantVersion = 'steward.butlerlabs.dev/v1alpha1';
const switchOn = 'Enable the feature gate and reference the hosting cluster';

let hosting: StewardCluster;
let first: ClusterApiStage;
let second: ClusterApiStage;

/** Two management clusters with Cluster API, and one that hosts. */
beforeAll(async () => {
  hosting = owned.use(await shareStewardCluster(owned.harness(`external-hosting-${process.pid}`), logStep));
  const [one = '', two = ''] = names;
  // Their own: the managers' flags are changed.
  first = owned.use(await startClusterApiStage(one, logStep));
  second = owned.use(await startClusterApiStage(two, logStep));
  owned.use(await forwardBetween([hosting, first, second].map(({ cluster }) => cluster.harness)));
}, 30 * minutes);

/** The how-to page for a management cluster, in a folder of its own: it writes files. */
async function openPage(management: ManagementCluster): Promise<HowToPage> {
  const folder = path.join(management.harness.folder, 'reader');
  await mkdir(folder);
  await symlink(path.join(import.meta.dirname, '..', '..', 'config'), path.join(folder, 'config'));
  const contexts = path.join(folder, 'contexts');
  await writeContexts(contexts, { management: management.kubeconfig, hosting: hosting.cluster.kubeconfig });
  return openHowTo(management, 'host-on-another-cluster', { folder, variables: { KUBECONFIG: contexts } });
}

/** Blue as `clusterctl generate` makes it from the template, with a control plane on the other cluster. */
async function manifests(): Promise<readonly PlainObject[]> {
  const text = await generateWorkload(first.clusterApi, { name: blue, namespace: fleet, workers: 1 });
  const externalClusterReference = {
    kubeconfigSecretName: 'hosting',
    kubeconfigSecretKey: 'kubeconfig',
    deploymentNamespace: 'hosted',
  };
  return parseManifests(text).map((manifest) =>
    manifest.kind === 'StewardControlPlane'
      ? { ...manifest, spec: { ...manifest.spec, deployment: { externalClusterReference } } }
      : manifest,
  );
}

async function hosted(): Promise<readonly PlainObject[]> {
  return hosting.cluster.client.list(tenantVersion, 'TenantControlPlane', 'hosted');
}

async function podsOf(cluster: ManagementCluster, namespace: string): Promise<readonly (string | undefined)[]> {
  const pods = await cluster.client.list('v1', 'Pod', namespace);
  return pods.map(({ metadata }) => metadata?.uid).toSorted();
}

const blueIn = ({ cluster }: ClusterApiStage): Workload => new Workload(cluster, blue, fleet);

describe('A control plane on another cluster', () => {
  test(
    'serves a Cluster and its worker, with none of its objects in the management cluster, by the commands of the how-to page',
    async () => {
      await first.cluster.kubectl(['create', 'namespace', fleet]);
      const page = await openPage(first.cluster);
      for (const heading of ['Create a namespace and a user in the hosting cluster', 'Create the kubeconfig', switchOn])
        await page.run(heading);
      await managerIsAvailable(first.cluster);
      await first.cluster.apply(await manifests());
      const found = blueIn(first);
      await found.initialized(3 * minutes);
      logStep(blue, 'its control plane is initialized');
      const [node] = await found.readyNodes(1, 4 * minutes);
      logStep(blue, `${String(node)} is Ready, a worker of the first management cluster`);
      expect(await podsOf(first.cluster, fleet)).toEqual([]);
      const [tenant] = await hosted();
      const own = await first.cluster.client.read(found.at(controlPlaneVersion, 'StewardControlPlane'));
      expect(tenant?.metadata?.name).toBe(`kcp-${String(own?.metadata?.uid)}`);
      expect((await found.kubectl(['get', '--raw', '/readyz'])).stdout).toBe('ok');
    },
    10 * minutes,
  );

  test(
    'continues without a failed call while clusterctl moves its Cluster to another management cluster, and is adopted there',
    async () => {
      const before = {
        tenants: (await hosted()).map(({ metadata }) => metadata?.uid),
        pods: await podsOf(hosting.cluster, 'hosted'),
      };
      const found = blueIn(first);
      // The e2e provider does not know machines of another host; a worker would stay behind.
      await first.cluster.client.merge(found.at(capiVersion, 'MachineDeployment', `${blue}-md-0`), {
        spec: { replicas: 0 },
      });
      await found.waitFor(
        found.at(capiVersion, 'MachineDeployment', `${blue}-md-0`),
        (object) => object?.status?.replicas === 0,
        { what: 'no replica' },
      );
      const label = [
        'label',
        'crd',
        ...crds.map(({ metadata }) => metadata?.name ?? ''),
        'clusterctl.cluster.x-k8s.io=',
      ];
      for (const { cluster } of [first, second]) await cluster.kubectl(label);
      await (await openPage(second.cluster)).run(switchOn);
      await managerIsAvailable(second.cluster);
      const users = { title: 'clusterctl move', kubeconfig: await found.kubeconfig(), floor: hosting.cluster.client };
      const seen = await underLoad(users, async () => {
        const args = ['move', '--namespace', fleet, '--to-kubeconfig', second.cluster.kubeconfig];
        const { stdout } = await first.clusterApi.clusterctl(args, { timeoutMs: 3 * minutes });
        logStep('clusterctl move', `\n${stdout}`);
        await blueIn(second).waitFor(blueIn(second).address, 'ControlPlaneAvailable', { timeoutMs: 2 * minutes });
        logStep(blue, 'its control plane is available in the second management cluster');
      });
      expectUnharmed(seen);
      expect(await first.cluster.client.list(controlPlaneVersion, 'StewardControlPlane', fleet)).toEqual([]);
      const after = {
        tenants: (await hosted()).map(({ metadata }) => metadata?.uid),
        pods: await podsOf(hosting.cluster, 'hosted'),
      };
      expect(after).toEqual(before);
    },
    8 * minutes,
  );

  test(
    'is updated by its StewardControlPlane there, and deleted with it',
    async () => {
      const found = blueIn(second);
      await second.cluster.client.merge(found.at(controlPlaneVersion, 'StewardControlPlane'), {
        spec: { replicas: 2 },
      });
      await found.waitFor(
        found.at(controlPlaneVersion, 'StewardControlPlane'),
        (object) => object?.status?.readyReplicas === 2,
        { what: 'two ready replicas' },
      );
      await second.cluster.client.delete(found.address);
      await found.waitFor(found.address, (object) => object === undefined, { timeoutMs: 3 * minutes, what: 'its end' });
      expect(await hosted()).toEqual([]);
      expect(await storeContents(hosting.cluster)).toEqual({ keys: [], users: ['root'], roles: ['root'] });
    },
    6 * minutes,
  );
});
