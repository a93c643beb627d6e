import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { valuesFrom } from '../controllers/clusteraddon/stages/addon-values.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { RunningRegistry } from '../../release/running-registry.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { AddonAssets } from '../sources/release-assets.ts';
import { HelmRenderer } from '../helm/helm-renderer.ts';
import type { ClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import { startClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import type { ServerFolder } from '../../testing/servers/server-folder.ts';
import { serverFolder } from '../../testing/servers/server-folder.ts';
import {
  releaseOfCsctl,
  releaseOfScript,
  releaseWithoutStages,
} from '../../testing/worlds/stacks/published-release.ts';
import { pushArtifact } from '../../testing/worlds/stacks/push-artifact.ts';
import { startStackManager } from '../../testing/worlds/stacks/stack-manager.ts';
import { assetStore } from './asset-store.ts';

const capi = 'cluster.x-k8s.io/v1beta2';
const stacksVersion = 'clusterstack.x-k8s.io/v1alpha1';
const namespace = 'default';
/** One repository for all stacks, as publishers have it. */
const path = 'kaas/cluster-stacks';
const never = new AbortController().signal;

/** A kind of v1beta1 of which everything is kept. */
const definition = ([group, kind]: readonly [group: string, kind: string]): PlainObject => {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}.cluster.x-k8s.io`,
      labels: { 'cluster.x-k8s.io/v1beta1': 'v1beta1' },
    },
    spec: {
      group: `${group}.cluster.x-k8s.io`,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          ...{ name: 'v1beta1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
};

const kinds = [
  ['controlplane', 'KubeadmControlPlaneTemplate'],
  ['infrastructure', 'DockerClusterTemplate'],
  ['infrastructure', 'DockerMachineTemplate'],
] as const;

let core: ClusterApiCore;
let folder: ServerFolder;
let registry: RunningRegistry;
let renderer: HelmRenderer;
let manager: AsyncDisposable;

/** Classes of both versions are served: core converts them, at the address where its webhooks are. */
async function convertClasses(): Promise<void> {
  const hooks = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
  const found = await core.client.read({ ...hooks, name: 'capi-validating-webhook-configuration' });
  const [hook] = found?.webhooks as readonly { readonly clientConfig: { readonly url: string } }[];
  const url = new URL('/convert', hook?.clientConfig.url).href;
  const webhook = { clientConfig: { ...hook?.clientConfig, url }, conversionReviewVersions: ['v1', 'v1beta1'] };
  await core.client.merge(
    {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      name: 'clusterclasses.cluster.x-k8s.io',
    },
    { spec: { conversion: { strategy: 'Webhook', webhook } } },
  );
}

beforeAll(async () => {
  const { helm } = await resolveTools(['helm']);
  [core, folder] = await Promise.all([startClusterApiCore(kinds.map(definition)), serverFolder()]);
  registry = await RunningRegistry.start(join(folder.path, 'registry'));
  renderer = new HelmRenderer({ program: helm, scratch: join(folder.path, 'helm') });
  await convertClasses();
  manager = await startStackManager(core.access, { renderer, folder: folder.path });
}, 240_000);

afterAll(async () => {
  await manager[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await core[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** The charts that come first, and the templates of their values. */
function chartsOf(
  addons: AddonAssets,
): readonly { readonly stage: string; readonly chart: string; readonly values: string }[] {
  if (addons.mode === 'single-chart') {
    return [{ stage: '', chart: addons.chart, values: addons.valuesTemplate ?? '' }];
  }
  return (addons.config.stages.AfterControlPlaneInitialized ?? []).map(({ name: stage }) => {
    const chart = join(addons.folder, stage);
    return { stage, chart, values: join(chart, 'overwrite.yaml') };
  });
}

describe.each([
  {
    maker: 'csctl',
    name: 'scs',
    channel: 'custom',
    className: 'docker-scs-1-34-v0-sha.rwvgrna',
    stages: ['cni', 'metrics-server'],
    published: releaseOfCsctl({
      ...{ prefix: 'docker-scs-1-34', version: 'v0-sha.rwvgrna', kubernetes: 'v1.34.4', contract: 'v1beta1' },
    }),
  },
  {
    maker: 'the script with oras',
    name: 'scs2',
    channel: 'custom',
    className: 'docker-scs2-1-34-v0-ttl.1771500000',
    stages: ['cni', 'metrics-server'],
    published: releaseOfScript({
      ...{ prefix: 'docker-scs2-1-34', version: 'v0-ttl.1771500000', kubernetes: 'v1.34.4', contract: 'v1beta2' },
    }),
  },
  {
    maker: 'csctl without stages',
    name: 'ferrol',
    channel: 'stable',
    className: 'docker-ferrol-1-34-v2',
    stages: [''],
    published: releaseWithoutStages({
      ...{ prefix: 'docker-ferrol-1-34', version: 'v2', kubernetes: 'v1.34.4', contract: 'v1beta1' },
    }),
  },
])('A release that $maker has published', ({ name, channel, className, stages, published }) => {
  test('is found by its ClusterStack, and core Cluster API accepts its class', async () => {
    await pushArtifact({ host: registry.host, path }, published);
    const source = { type: 'oci', repository: `${registry.host}/${path}`, plainHTTP: true };
    const spec = { provider: 'docker', name, kubernetesVersion: '1.34', channel, noProvider: true, source };
    const stack = { apiVersion: stacksVersion, kind: 'ClusterStack', metadata: { name, namespace } };
    await core.client.apply([{ ...stack, spec: { ...spec, autoSubscribe: true } }]);
    const release = {
      apiVersion: stacksVersion,
      kind: 'ClusterStackRelease',
      namespace,
      name: className.replace('.', '-'),
    };
    const ready = await core.client.waitFor(release, 'Ready', { timeoutMs: 60_000 });
    expect(ready?.status).toMatchObject({
      kubernetesVersion: 'v1.34.4',
      resources: Array.from({ length: 5 }, () => expect.objectContaining({ status: 'synced' })),
    });
    const address = { apiVersion: capi, kind: 'ClusterClass', namespace, name: className };
    const made = await core.client.waitFor(address, 'VariablesReady', { timeoutMs: 60_000 });
    expect(made?.spec).toMatchObject({
      controlPlane: { templateRef: { kind: 'KubeadmControlPlaneTemplate', name: `${className}-control-plane` } },
      workers: { machineDeployments: [{ class: 'default-worker' }] },
    });
  }, 120_000);

  test('has a class that a Cluster can use', async () => {
    const machineDeployments = [{ class: 'default-worker', name: 'md-0', replicas: 1 }];
    const topology = { classRef: { name: className }, version: 'v1.34.4', workers: { machineDeployments } };
    const metadata = { name: `of-${name}`, namespace };
    // The webhook of core reads the class and its variables before it admits one.
    await core.client.apply([{ apiVersion: capi, kind: 'Cluster', metadata, spec: { topology } }]);
    const admitted = await core.client.read({ apiVersion: capi, kind: 'Cluster', ...metadata });
    expect(admitted?.spec?.topology).toMatchObject({ variables: [{ name: 'imageRepository', value: '' }] });
  });

  test('has add-ons that are rendered with the values that they read from the Cluster', async () => {
    const store = assetStore(join(folder.path, 'cache'), systemClock);
    const source = { type: 'oci', repository: `${registry.host}/${path}`, plainHttp: true } as const;
    const { addons } = await store.assets(source, { name: className }, never);
    const charts = addons === undefined ? [] : chartsOf(addons);
    expect(charts.map(({ stage }) => stage)).toEqual(stages);
    const root = { Cluster: { spec: { controlPlaneEndpoint: { host: 'api.example.com', port: 6443 } } } };
    for (const { chart, values } of charts) {
      const expanded = await renderer.expand({ template: await readFile(values, 'utf8'), root }, never);
      const request = { chart, releaseName: 'cluster-addon', namespace: 'kube-system', values: valuesFrom(expanded) };
      expect(await renderer.render({ ...request, kubernetesVersion: 'v1.34.4' }, never)).toMatchObject([
        { kind: 'ConfigMap', metadata: { name: 'cluster-addon' }, data: { domain: 'api.example.com' } },
      ]);
    }
  });
});
