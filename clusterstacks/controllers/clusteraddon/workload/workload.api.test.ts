import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { patient } from '../../../../testing/patient.ts';
import { clusterAddon } from '../../../api/cluster-addon.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../../api/meta.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import type { AddonStage } from '../../../sources/cluster-addon-config.ts';
import type { TestRelease } from '../../../../testing/worlds/addon-world.ts';
import { AddonWorld, addonKey, chartObject, gadget } from '../../../../testing/worlds/addon-world.ts';
import { apiServerUnderTest } from '../../../../testing/servers/api-server-under-test.ts';

/** For how long the API server is waited for, in milliseconds. */
const patienceMs = 60_000;

const autoscaler: KindRef = {
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
};

const definition = chartObject(
  'CustomResourceDefinition',
  'gadgets.example.org',
  {
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  },
  'apiextensions.k8s.io/v1',
);

const deployment = (label: string): Manifest => {
  const labels = { app: label };
  const containers = [{ name: 'app', image: 'example.org/app:1', resources: { requests: { cpu: '0.5' } } }];
  const spec = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
  return chartObject('Deployment', 'app', { spec }, 'apps/v1');
};

const scaler = (version: string): Manifest => {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app' };
  return chartObject('HorizontalPodAutoscaler', 'app', { spec: { maxReplicas: 3, scaleTargetRef } }, version);
};

const stage: AddonStage = {
  name: 'app',
  action: 'apply',
  after: {
    objects: [{ key: 'app', apiVersion: 'apps/v1', kind: 'Deployment', name: 'app' }],
    expression: 'app.metadata.generation >= 1 && app.spec.replicas + 1 == 2',
  },
};

const release = (addonVersion: string, manifests: readonly Manifest[]): TestRelease => ({
  kubernetes: 'v1.35.6',
  addonVersion,
  stages: { AfterControlPlaneInitialized: [stage], BeforeClusterUpgrade: [stage] },
  charts: { app: () => manifests },
});

const config = (name: string, value: string): Manifest => chartObject('ConfigMap', name, { data: { value } });

const first = [
  chartObject('Gadget', 'one', { spec: { size: 1 } }, 'example.org/v1'),
  deployment('old'),
  scaler('autoscaling/v1'),
  config('kept', '1'),
  config('dropped', '1'),
  definition,
];

let client: Cluster;
let world: AddonWorld;

beforeAll(async () => {
  const { url: server, ca, adminCertificate: clientCert, adminKey: clientKey } = await apiServerUnderTest();
  client = openCluster({ server, ca, clientCert, clientKey }, { name: 'workload' });
}, 120_000);

afterAll(() => client.close());

beforeEach(async () => {
  world = new AddonWorld({ workload: client });
  await world.release('v1', release('v1', first));
  await world.create();
  await untilReady();
}, 2 * patienceMs);

afterEach(async () => {
  const namespaced = [gadget, kinds.Deployment, autoscaler, kinds.ConfigMap] as const;
  await Promise.all(
    namespaced.map(async (kind) => {
      const { items } = await client.list(kind, { labelSelector: 'clusterstack.x-k8s.io/instance=owned' });
      await Promise.all(items.map(({ metadata }) => client.delete(kind, inside(metadata.name))));
    }),
  );
  await world.close();
});

const inside = (name: string) => ({ namespace: 'kube-system', name });

/** Reconciles until the add-ons are ready. Nothing reports when the API server has processed a definition, so it polls. */
async function untilReady(): Promise<void> {
  const deadline = performance.now() + patient(patienceMs);
  for (;;) {
    await world.settle();
    const { status } = (await world.addon()) ?? {};
    if (status?.ready === true) return;
    if (performance.now() > deadline) throw new Error(JSON.stringify(status?.conditions));
    await pause(50);
  }
}

async function upgradeTo(manifests: readonly Manifest[]): Promise<void> {
  await world.release('v2', release('v2', manifests));
  await world.setCluster({ release: 'v2' });
}

const versions = (): Promise<readonly (string | undefined)[]> =>
  Promise.all(
    [
      client.get(gadget, inside('one')),
      client.get(kinds.Deployment, inside('app')),
      client.get(autoscaler, inside('app')),
      client.get(kinds.ConfigMap, inside('kept')),
    ].map(async (object) => (await object)?.metadata.resourceVersion),
  );

describe('Add-ons in a real workload cluster', () => {
  test(
    'are applied with their definitions from one chart, and a second apply changes nothing',
    async () => {
      const before = await versions();
      expect(before).not.toContain(undefined);
      world.restart();
      await untilReady();
      expect(await versions()).toEqual(before);
      const managers = (await client.get(kinds.ConfigMap, inside('kept')))?.metadata.managedFields;
      expect(managers).toMatchObject([{ manager: 'steward-clusterstacks', operation: 'Apply' }]);
    },
    patienceMs,
  );

  test(
    'are reverted after an edit by another client, whose own fields stay',
    async () => {
      await untilReady();
      const body = { data: { value: 'theirs', other: 'stays' } };
      await client.patch(kinds.ConfigMap, inside('kept'), { type: 'merge', body });
      await client.delete(gadget, inside('one'));
      await world.clock.advance(10 * 60_000);
      await untilReady();
      expect((await client.get(kinds.ConfigMap, inside('kept')))?.data).toEqual({ value: '1', other: 'stays' });
      expect(await client.get(gadget, inside('one'))).toBeDefined();
    },
    patienceMs,
  );

  test(
    'defect 2: an object that the new release names in another API version is neither pruned nor recreated',
    async () => {
      const uid = (await client.get(autoscaler, inside('app')))?.metadata.uid;
      const next = [deployment('old'), scaler('autoscaling/v2'), config('kept', '2')];
      await upgradeTo(next);
      await untilReady();
      expect((await client.get(autoscaler, inside('app')))?.metadata.uid).toBe(uid);
      expect((await client.get(kinds.ConfigMap, inside('kept')))?.data).toEqual({ value: '2' });
      expect(await client.get(kinds.ConfigMap, inside('dropped'))).toBeUndefined();
      expect(await client.get(gadget, inside('one'))).toBeUndefined();
      const crd: Resource | undefined = await client.get(kinds.CustomResourceDefinition, {
        name: 'gadgets.example.org',
      });
      // With a definition all objects of its kind would go, those of users, too.
      expect(crd?.metadata.deletionTimestamp).toBeUndefined();
      expect(crd).toBeDefined();
    },
    patienceMs,
  );

  test(
    'with a field that cannot be changed report the fix, and are recreated if that is allowed',
    async () => {
      const uid = (await client.get(kinds.Deployment, inside('app')))?.metadata.uid;
      await upgradeTo([deployment('new'), config('kept', '2')]);
      await world.settle();
      const told = (await world.addon())?.status?.conditions?.find(({ type }) => type === 'HelmChartApplied');
      expect(told).toMatchObject({ status: 'False', reason: 'FailedToApplyObjects' });
      expect(told?.message).toContain('clusterstack.x-k8s.io/recreate=true');
      expect((await world.addon())?.spec.hook).toBe('BeforeClusterUpgrade');
      const body = { metadata: { annotations: { 'clusterstack.x-k8s.io/recreate': 'true' } } };
      await world.management.admin.patch(clusterAddon, addonKey, { type: 'merge', body });
      await untilReady();
      const after = await client.get(kinds.Deployment, inside('app'));
      expect(after?.metadata.uid).not.toBe(uid);
      expect(after?.spec?.selector.matchLabels).toEqual({ app: 'new' });
    },
    patienceMs,
  );
});
