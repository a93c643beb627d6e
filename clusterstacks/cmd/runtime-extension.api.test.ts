import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesClient, ObjectAddress, PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { parseManifests } from '../../e2e/cluster/kubernetes-client.ts';
import { crds, infrastructureVersion } from '../../e2e/infrastructure/kinds.ts';
import { AdmissionServer } from '../../runtime/admission/admission-server.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { textOf } from '../../runtime/cache/object-id.ts';
import { ServingCertificates } from '../../runtime/server/serving-certificates.ts';
import { patient } from '../../testing/patient.ts';
import { adminOf } from '../../testing/worlds/external-management.ts';
import type { ClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import { startClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import { chosenControllers } from '../../cmd/chosen-controllers.ts';
import { readFeatureGates } from '../../cmd/flags/feature-gates.ts';
import { runtimeExtensionParts } from './runtime-extension.ts';

const capi = 'cluster.x-k8s.io/v1beta2';
const controlPlane = 'controlplane.cluster.x-k8s.io/v1alpha1';
const addonVersion = 'clusterstack.x-k8s.io/v1alpha1';
const [oldVersion, newVersion] = ['v1.35.4', 'v1.36.3'] as const;
const [oldClass, newClass] = ['docker-test-1-35-v1', 'docker-test-1-36-v1'] as const;
const manifest = join(import.meta.dirname, '../../config/clusterstacks/runtime-extension/extension-config.yaml');

let core: ClusterApiCore;
let client: KubernetesClient;
let cluster: Cluster;
let informers: InformerFactory;
let server: AdmissionServer;
const woken: string[] = [];
const wakes = new EventEmitter();

/** Another control-plane provider: only its kinds; the test acts as its controller. */
const otherKind = (kind: string): PlainObject => {
  const plural = `${kind.toLowerCase()}s`;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.controlplane.cluster.x-k8s.io`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1alpha1' } },
    spec: {
      group: 'controlplane.cluster.x-k8s.io',
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
    },
  };
};

beforeAll(async () => {
  const kinds = [...crds, otherKind('OtherControlPlane'), otherKind('OtherControlPlaneTemplate')];
  core = await startClusterApiCore(kinds, undefined, ['RuntimeSDK']);
  ({ client } = core);
  cluster = adminOf(core.access);
  informers = new InformerFactory({ cluster });
  await serveHooks();
  const metadata = { name: 'test', namespace: 'default' };
  const template = { spec: { template: { spec: {} } } };
  await client.apply([
    { apiVersion: infrastructureVersion, kind: 'NetnsClusterTemplate', metadata, ...template },
    { apiVersion: controlPlane, kind: 'OtherControlPlaneTemplate', metadata, ...template },
    classOf(oldClass, { 'clusterstack.x-k8s.io/release': oldClass }),
    classOf(newClass, { 'clusterstack.x-k8s.io/release': newClass }),
    classOf('plain', {}),
  ]);
}, 240_000);

afterAll(async () => {
  await server.close();
  await informers.close();
  await cluster.close();
  await core[Symbol.asyncDispose]();
}, 60_000);

/** As the manager does it, for the ExtensionConfig that is shipped; outside of the cluster, since nothing runs in it. */
async function serveHooks(): Promise<void> {
  const { calls, further } = runtimeExtensionParts({
    settings: {
      gates: readFeatureGates('ClusterStacks=true,RuntimeSDK=true'),
      controllers: chosenControllers('*'),
      watchFilter: '',
      namespace: '',
    },
    cluster,
    clock: systemClock,
    enqueue: (controller, key) => {
      woken.push(`${controller} ${textOf(key)}`);
      wakes.emit('wake');
    },
  });
  const parts = { clock: systemClock, log: silent };
  const certificates = {
    ...parts,
    ...{ cluster, informers, mutating: [], validating: [] },
    secret: { namespace: 'default', name: 'steward-webhook-server-cert' },
    names: { dnsNames: [], ipAddresses: ['127.0.0.1'] },
  };
  server = new AdmissionServer({ ...parts, handlers: {}, calls });
  const port = await server.listen(
    { host: '127.0.0.1', port: 0 },
    await new ServingCertificates(certificates).ensure(),
  );
  await client.apply(parseManifests(await readFile(manifest, 'utf8')));
  await new ServingCertificates({ ...certificates, further, url: `https://127.0.0.1:${port}` }).ensure();
}

function classOf(name: string, labels: Readonly<Record<string, string>>): PlainObject {
  const infrastructure = { apiVersion: infrastructureVersion, kind: 'NetnsClusterTemplate', name: 'test' };
  const other = { apiVersion: controlPlane, kind: 'OtherControlPlaneTemplate', name: 'test' };
  return {
    ...{ apiVersion: capi, kind: 'ClusterClass', metadata: { name, namespace: 'default', labels } },
    spec: { infrastructure: { templateRef: infrastructure }, controlPlane: { templateRef: other } },
  };
}

const at = (apiVersion: string, kind: string, name: string): ObjectAddress => ({
  ...{ apiVersion, kind, name, namespace: 'default' },
});
const addonOf = (name: string): ObjectAddress => at(addonVersion, 'ClusterAddon', `cluster-addon-${name}`);
const versionOf = (object: PlainObject | undefined): unknown => object?.spec?.version;

/** A Cluster of a class whose control plane runs; answers the control plane. */
async function createOfClass(name: string, className: string): Promise<ObjectAddress> {
  const address = at(capi, 'Cluster', name);
  const topology = { classRef: { name: className }, version: oldVersion };
  await client.apply([
    { apiVersion: capi, kind: 'Cluster', metadata: { name, namespace: 'default' }, spec: { topology } },
  ]);
  const made = await client.waitFor(address, (object) => object?.spec?.controlPlaneRef !== undefined);
  const nameAt = (field: string): string => (made?.spec?.[field] as { readonly name: string }).name;
  const own = at(controlPlane, 'OtherControlPlane', nameAt('controlPlaneRef'));
  const network = at(infrastructureVersion, 'NetnsCluster', nameAt('infrastructureRef'));
  await client.merge(network, { status: { initialization: { provisioned: true } } });
  await runs(own, oldVersion);
  await client.waitFor(address, 'ControlPlaneInitialized');
  return own;
}

/** What its controller, which does not exist, would say. */
async function runs(own: ObjectAddress, version: string): Promise<void> {
  const status = { version, initialization: { controlPlaneInitialized: true }, externalManagedControlPlane: true };
  await client.merge(own, { status });
}

/** Waits for a wake-up of a ClusterAddon. */
async function wokenBy(name: string): Promise<void> {
  const wanted = `clusteraddon default/cluster-addon-${name}`;
  const signal = AbortSignal.timeout(patient(30_000));
  while (!woken.includes(wanted)) await once(wakes, 'wake', { signal });
}

const upgrade = (name: string, className: string): Promise<void> =>
  client.merge(at(capi, 'Cluster', name), {
    spec: { topology: { classRef: { name: className }, version: newVersion } },
  });

describe('Core Cluster API with the feature gate RuntimeSDK', () => {
  test('finds the handlers of the shipped ExtensionConfig', async () => {
    const address = at('runtime.cluster.x-k8s.io/v1beta2', 'ExtensionConfig', 'steward-clusterstacks');
    await client.waitFor(address, 'Discovered');
    // Core writes conditions first and the rest of a status in a second call.
    const found = await client.waitFor(address, (object) => object?.status?.handlers !== undefined);
    const handlers = found?.status?.handlers as readonly { readonly name: string }[];
    expect(handlers.map(({ name }) => name)).toEqual([
      'after-control-plane-initialized.steward-clusterstacks',
      'before-cluster-upgrade.steward-clusterstacks',
      'after-cluster-upgrade.steward-clusterstacks',
    ]);
  });

  test('holds the upgrade of another control plane until the ClusterAddon has completed the new class', async () => {
    const name = 'held';
    await client.apply([
      {
        ...{ apiVersion: addonVersion, kind: 'ClusterAddon' },
        metadata: { name: `cluster-addon-${name}`, namespace: 'default' },
        spec: { clusterRef: { kind: 'Cluster', name } },
      },
    ]);
    const own = await createOfClass(name, oldClass);
    await wokenBy(name);
    await client.merge(addonOf(name), { spec: { clusterStack: oldClass } });
    // Cluster API calls a hook again until it has noted that it was answered.
    const isNoted = (object: PlainObject | undefined): boolean =>
      object?.metadata?.annotations?.['runtime.cluster.x-k8s.io/pending-hooks']?.includes('Initialized') !== true;
    await client.waitFor(at(capi, 'Cluster', name), isNoted, { what: 'hooks that are no longer pending' });
    woken.length = 0;

    await upgrade(name, newClass);
    const isHeld = (object: PlainObject | undefined): boolean =>
      JSON.stringify(object?.status?.conditions ?? []).includes('waits for ClusterAddon');
    const held = await client.waitFor(at(capi, 'Cluster', name), isHeld, { what: 'a held upgrade' });
    const { status, message = '' } = held?.status?.conditions?.find(({ type }) => type === 'TopologyReconciled') ?? {};
    expect(status).toBe('False');
    expect(message).toContain(
      `the upgrade to ${newVersion} waits for ClusterAddon cluster-addon-${name}, which has not observed the ClusterClass ${newClass} yet`,
    );
    expect(versionOf(await client.read(own))).toBe(oldVersion);

    await client.merge(addonOf(name), { spec: { clusterStack: newClass } });
    await client.merge(addonOf(name), { status: { completedHooks: ['BeforeClusterUpgrade'] } }, 'status');
    await client.waitFor(own, (object) => versionOf(object) === newVersion, { what: `spec ${newVersion}` });
    expect(woken).toEqual([]);
    await runs(own, newVersion);
    await wokenBy(name);
  }, 180_000);

  test('lets a Cluster of another class upgrade at once', async () => {
    const own = await createOfClass('free', 'plain');
    await upgrade('free', 'plain');
    await client.waitFor(own, (object) => versionOf(object) === newVersion, { what: `spec ${newVersion}` });
    expect(woken.some((each) => each.includes('free'))).toBe(false);
  }, 120_000);
});
