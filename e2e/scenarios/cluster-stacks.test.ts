import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import { watchObjects } from '../cluster/watch-objects.ts';
import { RunningRegistry } from '../../release/running-registry.ts';
import type { ClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { startClusterApiStage } from '../framework/cluster-api/cluster-api-stage.ts';
import { capiVersion } from '../framework/cluster-api/cluster-stage.ts';
import { openHowTo, openTutorial } from '../framework/how-to-page.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { managerIsAvailable } from '../framework/install-steward.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { stackSource } from '../framework/stack-source.ts';
import { logStep } from '../framework/log.ts';
import { conditionOf } from '../framework/tenant-stage.ts';
import { Timeline } from '../framework/load/timeline.ts';
import { Workload } from '../framework/workload.ts';
import { imageArchives } from '../tools/images.ts';
import { resolveTools } from '../tools/resolve.ts';
import { stackImageArchives } from '../tools/stack-images.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';

const owned = scenarioResources();
const name = owned.harness(`stacks-${process.pid}`);
const shop = 'shop';
const [older, newer] = ['v1.35.4', 'v1.36.3'] as const;
const stacksVersion = 'clusterstack.x-k8s.io/v1alpha1';
const [v1, v2] = ['netns-steward-1-35-v1', 'netns-steward-1-36-v2'] as const;

let stage: ClusterApiStage;
let registry: RunningRegistry;
/** What a reader does who follows the tutorial. */
let tutorial: HowToPage;
let source: string;
let workload: Workload;
const timeline = new Timeline('cluster stacks');

beforeAll(async () => {
  owned.defer(() => {
    timeline.print();
  });
  const progress = (line: string): void => {
    logStep('images', line);
  };
  const images = (await stackImageArchives(progress)).map(({ path: archive }) => archive);
  // Its own: the image has helm, and the manager's flags are changed.
  stage = owned.use(await startClusterApiStage(name, logStep, { images, withHelm: true }));
  workload = new Workload(stage.cluster, shop);
  const { folder, network } = stage.cluster.harness;
  registry = owned.use(await RunningRegistry.start(path.join(folder, 'registry'), undefined, network.gateway));
  source = await stackSource(path.join(folder, 'stack'));
  const { helm } = await resolveTools(['helm']);
  tutorial = await openTutorial(stage.cluster, 'first-cluster-stack', {
    programs: [process.execPath, helm],
    variables: {
      STACK: source,
      RELEASES: path.join(folder, 'releases'),
      PROVIDER: 'netns',
      REPOSITORY: `${registry.host}/cluster-stacks`,
      PLAIN_HTTP: 'true',
      VARIABLES: '[{"name":"metricResolution","value":"20s"}]',
    },
  });
  const programs = /kube-(apiserver|controller-manager|scheduler):/;
  for (const archive of await imageArchives({ kubernetes: older, progress })) {
    if (programs.test(archive.name)) await stage.cluster.machine.importImage(archive.path);
  }
}, 25 * minutes);

const stackAddress = (minor: string): ObjectAddress => workload.at(stacksVersion, 'ClusterStack', `netns-${minor}`);

/** What a pod of the tenant sees: it finds the API server by DNS and reads an API that another pod serves. */
const reader: readonly PlainObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'reader', namespace: 'default' },
    spec: {
      restartPolicy: 'OnFailure',
      containers: [
        {
          name: 'reader',
          image: 'e2e.steward.butlerlabs.dev/bridge-cni:v1',
          command: [
            'sh',
            '-ec',
            `token=$(cat /run/secrets/kubernetes.io/serviceaccount/token)
             exec kubectl --server=https://kubernetes.default.svc.cluster.local --token="$token" \
               --certificate-authority=/run/secrets/kubernetes.io/serviceaccount/ca.crt \
               get --raw /apis/metrics.k8s.io/v1beta1`,
          ],
        },
      ],
    },
  },
];

/** The next version of the stack: another minor, and add-ons that changed. */
async function changeAddons(): Promise<void> {
  const cni = path.join(source, 'cluster-addon', 'cni');
  const values = path.join(cni, 'values.yaml');
  const text = await readFile(values, 'utf8');
  await writeFile(values, text.replace('bridge-cni:v1', 'bridge-cni:v2').replace('mtu: 1500', 'mtu: 1450'));
  // An object that is not named anymore, and one that is new.
  const configMap = path.join(cni, 'templates', 'config-map.yaml');
  await writeFile(configMap, (await readFile(configMap, 'utf8')).replace('name: bridge-cni', 'name: bridge-conflist'));
  const daemonSet = path.join(cni, 'templates', 'daemon-set.yaml');
  const pods = await readFile(daemonSet, 'utf8');
  await writeFile(daemonSet, pods.replace(/configMap:\n( +)name: bridge-cni/, 'configMap:\n$1name: bridge-conflist'));
  await rename(configMap, path.join(cni, 'templates', 'conflist.yaml'));
}

const addon = (): ObjectAddress => workload.at(stacksVersion, 'ClusterAddon', `cluster-addon-${shop}`);
const imageOf = (object: PlainObject | undefined): string | undefined =>
  (object?.spec?.template as { spec?: { containers?: { image?: string }[] } } | undefined)?.spec?.containers?.[0]
    ?.image;

describe('A Cluster of a cluster stack', () => {
  test(
    'finds its class in a release that was pushed',
    async () => {
      const page = await openHowTo(stage.cluster, 'cluster-stacks');
      await page.run('Enable the layer');
      await managerIsAvailable(stage.cluster);
      timeline.note('the layer of cluster stacks is switched on');
      await tutorial.run('3. The first release');
      timeline.note(`${v1} is pushed`);
      await tutorial.run('4. Its ClusterClass');
      await workload.waitFor(stackAddress('1.35'), 'Ready');
      timeline.note('its ClusterStack is Ready');
      expect(await stage.cluster.client.read(workload.at(capiVersion, 'ClusterClass', v1))).toBeDefined();
    },
    4 * minutes,
  );

  test(
    'gets its pod network and its metrics API from the add-ons of the class',
    async () => {
      await tutorial.run('5. A Cluster');
      timeline.note(`Cluster ${shop} is created`);
      await workload.initialized();
      timeline.note('its control plane is initialized');
      const created = await stage.cluster.client.read(workload.address);
      expect((created?.spec?.topology as { version: string }).version).toBe(older);
      await workload.readyNodes(1, 5 * minutes);
      timeline.note('its worker is Ready: the add-on has written its CNI configuration');
      await tutorial.run('5. A Cluster');
      timeline.note('its add-ons are Ready');
      const tenant = await workload.tenant();
      await tenant.apply(reader);
      const pod = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'reader' };
      await workload.waitInside(pod, (object) => object?.status?.phase === 'Succeeded');
      const { stdout } = await workload.kubectl(['logs', 'reader']);
      expect(stdout).toContain('"groupVersion":"metrics.k8s.io/v1beta1"');
      timeline.note('a pod has resolved a name and read the metrics API');
    },
    10 * minutes,
  );

  test(
    'is upgraded to the next minor in order: the new add-ons, the control plane, the workers',
    async () => {
      await changeAddons();
      await tutorial.run('6. The next minor');
      timeline.note(`${v2} is pushed, and its class is there`);
      const order: string[] = [];
      const once = (what: string): void => {
        if (order.includes(what)) return;
        order.push(what);
        timeline.note(what);
      };
      const stop = new AbortController();
      const options = {
        signal: stop.signal,
        onError: (error: unknown) => {
          logStep('watch', String(error));
        },
      };
      const tenant = await workload.tenant();
      const watches = Promise.all([
        watchObjects(
          tenant.config,
          '/apis/apps/v1/namespaces/kube-system/daemonsets',
          ({ object }) => {
            if (imageOf(object)?.endsWith('bridge-cni:v2') === true) once('the new add-on is there');
            return Promise.resolve();
          },
          options,
        ),
        watchObjects(
          stage.cluster.client.config,
          '/apis/controlplane.cluster.x-k8s.io/v1alpha2/namespaces/default/stewardcontrolplanes',
          ({ object }) => {
            const rolling = conditionOf(object, 'RollingOut');
            if (rolling?.reason === 'WaitingForClusterAddon') once('the control plane waits for the add-ons');
            if (object.status?.version === newer) once('the control plane has the new version');
            return Promise.resolve();
          },
          options,
        ),
        watchObjects(
          stage.cluster.client.config,
          `/apis/${capiVersion}/namespaces/default/machines`,
          ({ object }) => {
            if (object.spec?.version === newer) once('a Machine of the new version is made');
            return Promise.resolve();
          },
          options,
        ),
      ]);
      try {
        await tutorial.run('7. Upgrade');
        await workload.waitFor(workload.address, 'Available', { timeoutMs: 6 * minutes });
        await workload.waitFor(
          addon(),
          (object) => object?.spec?.clusterStack === v2 && object.status?.ready === true,
          {
            timeoutMs: 6 * minutes,
          },
        );
        await onlyNewMachine();
        timeline.note('the worker of the new version is Ready, no other is left');
      } finally {
        stop.abort();
        await watches;
      }
      expect(order.filter((what) => !what.includes('waits'))).toEqual([
        'the new add-on is there',
        'the control plane has the new version',
        'a Machine of the new version is made',
      ]);
      const at = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system' };
      expect(await tenant.read({ ...at, name: 'bridge-cni' })).toBeUndefined();
      expect(await tenant.read({ ...at, name: 'bridge-conflist' })).toBeDefined();
    },
    15 * minutes,
  );

  test(
    'causes the deletion of the previous release, whose class is unused',
    async () => {
      await tutorial.run('8. Clean up');
      const gone = (object: PlainObject | undefined): boolean => object === undefined;
      await workload.waitFor(workload.at(stacksVersion, 'ClusterStackRelease', v1), gone, { what: 'its end' });
      await workload.waitFor(workload.at(capiVersion, 'ClusterClass', v1), gone, { what: 'its end' });
      timeline.note(`${v1} is collected`);
      expect(await stage.cluster.client.read(workload.at(capiVersion, 'ClusterClass', v2))).toBeDefined();
    },
    3 * minutes,
  );

  test(
    'is removed completely, and the last release after it',
    async () => {
      await tutorial.run('8. Clean up');
      expect(tutorial.untried).toEqual([]);
      const gone = (object: PlainObject | undefined): boolean => object === undefined;
      expect(await stage.cluster.client.read(workload.address)).toBeUndefined();
      await workload.waitFor(addon(), gone, { what: 'its end' });
      await workload.waitFor(workload.at(capiVersion, 'ClusterClass', v2), gone, { what: 'its end' });
      timeline.note('Cluster and classes are gone');
    },
    7 * minutes,
  );
});

/** Waits until the one worker is of the new version, and Ready. */
async function onlyNewMachine(): Promise<void> {
  const isNew = (node: PlainObject): boolean => {
    const { kubeletVersion } = (node.status?.nodeInfo ?? {}) as { readonly kubeletVersion?: string };
    return kubeletVersion === newer && conditionOf(node, 'Ready')?.status === 'True';
  };
  const tenant = await workload.tenant();
  for (const deadline = deadlineIn(6 * minutes); ;) {
    const [machines, nodes] = await untilReached(() => Promise.all([workload.machines(), tenant.list('v1', 'Node')]));
    if (machines.length === 1 && nodes.length === 1 && nodes.every(isNew)) return;
    if (Date.now() > deadline) throw new Error(`The worker does not follow.\n${await workload.diagnose()}`);
    await pause(500);
  }
}
