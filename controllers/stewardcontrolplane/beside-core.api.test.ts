import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { annotations } from '../../api/names.ts';
import { restoreMark } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import type { KubernetesClient, ObjectAddress, PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { isRecord } from '../../api/structural/is-record.ts';
import { parseManifests } from '../../e2e/cluster/kubernetes-client.ts';
import { watchObjects } from '../../e2e/cluster/watch-objects.ts';
import { crds, infrastructureVersion } from '../../e2e/infrastructure/kinds.ts';
import { patient } from '../../testing/patient.ts';
import {
  serveAsAsked,
  startControllersBesideCore,
  tenantAddress,
} from '../../testing/worlds/controllers-beside-core.ts';
import type { ClusterApiCore } from '../../testing/servers/cluster-api-core.ts';
import { startClusterApiCore } from '../../testing/servers/cluster-api-core.ts';

const capi = 'cluster.x-k8s.io/v1beta2';
const controlPlane = 'controlplane.cluster.x-k8s.io/v1alpha2';
const [oldest, middle, newest] = ['v1.34.4', 'v1.35.4', 'v1.36.3'] as const;
const classFile = join(import.meta.dirname, '..', '..', 'templates', 'clusterclass-steward-netns.yaml');
const className = 'steward-netns';

let core: ClusterApiCore;
let client: KubernetesClient;
let controllers: AsyncDisposable;

beforeAll(async () => {
  core = await startClusterApiCore(crds);
  ({ client } = core);
  controllers = await startControllersBesideCore(core);
  const manifests = parseManifests(await readFile(classFile, 'utf8'));
  const kubernetesVersions = [oldest, middle, newest];
  await client.apply(
    manifests.map((one) => (one.kind === 'ClusterClass' ? { ...one, spec: { ...one.spec, kubernetesVersions } } : one)),
  );
}, 240_000);

afterAll(async () => {
  await controllers[Symbol.asyncDispose]();
  await core[Symbol.asyncDispose]();
}, 60_000);

const at = (apiVersion: string, kind: string, name: string): ObjectAddress => ({
  ...{ apiVersion, kind, name, namespace: 'default' },
});
const clusterAt = (name: string): ObjectAddress => at(capi, 'Cluster', name);
const versionOf = (object: PlainObject | undefined): unknown => object?.spec?.version;

const objectsIn = (value: unknown): readonly object[] => {
  if (!Array.isArray(value)) throw new Error('the ClusterClass has no such list');
  return value.filter((one: unknown) => isRecord(one));
};

/** Waits for an object with the time that a busy machine needs. */
const until = (address: ObjectAddress, is: (object: PlainObject | undefined) => boolean, what: string) =>
  client.waitFor(address, is, { timeoutMs: 30_000, what });

/** A Cluster of a class, with a MachineDeployment that has no machines. */
async function createOfClass(
  name: string,
  version: string,
  { of = className, variables }: { readonly of?: string; readonly variables?: readonly object[] } = {},
): Promise<ObjectAddress> {
  const workers = { machineDeployments: [{ class: 'default', name: 'md-0', replicas: 0 }] };
  const topology = { classRef: { name: of }, version, controlPlane: { replicas: 2 }, workers, variables };
  await client.apply([
    { apiVersion: capi, kind: 'Cluster', metadata: { name, namespace: 'default' }, spec: { topology } },
  ]);
  const found = await until(
    clusterAt(name),
    (object) => object?.spec?.controlPlaneRef !== undefined,
    'a control plane',
  );
  const { name: called } = found?.spec?.controlPlaneRef as { readonly name: string };
  await provisioned((found?.spec?.infrastructureRef as { readonly name: string }).name);
  return at(controlPlane, 'StewardControlPlane', called);
}

async function provisioned(name: string): Promise<void> {
  const status = { initialization: { provisioned: true } };
  await client.merge(at(infrastructureVersion, 'NetnsCluster', name), { status });
}

/** The only MachineDeployment of a Cluster, as soon as it is there. */
async function machineDeploymentOf(cluster: string): Promise<ObjectAddress> {
  const selector = `cluster.x-k8s.io/cluster-name=${cluster}`;
  for (const deadline = Date.now() + patient(60_000); ;) {
    const [found] = await client.list(capi, 'MachineDeployment', 'default', selector);
    if (found !== undefined) return at(capi, 'MachineDeployment', found.metadata?.name ?? '');
    if (Date.now() > deadline) throw new Error(`core made no MachineDeployment of ${cluster}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits until the TenantControlPlane has the annotation that wakes it up for an upgrade of its Cluster, or no longer has it. */
async function upgradeIsAnnotated(own: ObjectAddress, version: string | undefined): Promise<void> {
  const annotated = (object: PlainObject | undefined) => object?.metadata?.annotations?.[annotations.clusterUpgrade];
  const what = version === undefined ? 'no upgrade' : `the upgrade to ${version}`;
  const options = { timeoutMs: 90_000, what: `a TenantControlPlane annotated with ${what}` };
  await client.waitFor(
    tenantAddress(own.name),
    (object) => object !== undefined && annotated(object) === version,
    options,
  );
}

/** Follows a step of an upgrade: the old version is reported until all pods of the new one exist. */
async function rolledOut(own: ObjectAddress, from: string, to: string): Promise<void> {
  const wanted = await until(
    own,
    (object) => versionOf(object) === to && conditionOf(object, 'RollingOut') === 'True',
    `a rollout of ${to}`,
  );
  expect(wanted?.status?.version).toBe(from);
  await until(
    tenantAddress(own.name),
    (object) => JSON.stringify(object?.spec?.kubernetes).includes(to),
    `a TenantControlPlane of ${to}`,
  );
  await serveAsAsked(client, own.name);
}

/** Records every value of a field of objects, in order, until stopped. */
function follow(plural: string, group: string, valueOf: (object: PlainObject) => unknown) {
  const values: unknown[] = [];
  const changes = new EventEmitter();
  const stop = new AbortController();
  const onChange = ({ object }: { readonly object: PlainObject }): Promise<void> => {
    const value = valueOf(object);
    if (value !== undefined && value !== values.at(-1)) values.push(value);
    changes.emit('change');
    return Promise.resolve();
  };
  const options = { signal: stop.signal, onError: () => undefined };
  const watching = watchObjects(client.config, `/apis/${group}/namespaces/default/${plural}`, onChange, options);
  return {
    values,
    /** Waits until it has seen such values. */
    async seen(holds: (soFar: readonly unknown[]) => boolean) {
      const signal = AbortSignal.timeout(patient(60_000));
      while (!holds(values)) await once(changes, 'change', { signal });
    },
    async stop() {
      stop.abort();
      await watching;
    },
  };
}

const conditionOf = (object: PlainObject | undefined, type: string): string | undefined =>
  object?.status?.conditions?.find((condition) => condition.type === type)?.status;

const isGone = (object: PlainObject | undefined): boolean => object === undefined;

describe('A Cluster of a class that names three minors', () => {
  test('is upgraded through each of them, and its workers only to the last', async () => {
    const name = 'chain';
    const own = await createOfClass(name, oldest);
    await serveAsAsked(client, own.name);
    await until(own, (object) => object?.status?.version === oldest, `status ${oldest}`);
    const workers = await machineDeploymentOf(name);
    const workersVersion = (object: PlainObject | undefined): unknown =>
      (object?.spec?.template as { readonly spec?: { readonly version?: string } } | undefined)?.spec?.version;
    const isOwn = (object: PlainObject): boolean => object.metadata?.name === own.name;
    const asked = follow('stewardcontrolplanes', controlPlane, (object) =>
      isOwn(object) ? versionOf(object) : undefined,
    );
    const reached = follow('stewardcontrolplanes', controlPlane, (object) =>
      isOwn(object) ? object.status?.version : undefined,
    );
    const followed = follow('machinedeployments', capi, workersVersion);
    const all = [asked, reached, followed];
    try {
      await Promise.all(all.map((one) => one.seen((values) => values.length > 0)));
      await client.merge(clusterAt(name), { spec: { topology: { version: newest } } });
      await upgradeIsAnnotated(own, newest);
      await rolledOut(own, oldest, middle);
      await until(own, (object) => versionOf(object) === newest, `spec ${newest}`);
      expect(workersVersion(await client.read(workers))).toBe(oldest);
      await rolledOut(own, middle, newest);
      await until(workers, (object) => workersVersion(object) === newest, `workers of ${newest}`);
      await upgradeIsAnnotated(own, undefined);
      await Promise.all(all.map((one) => one.seen((values) => values.at(-1) === newest)));
    } finally {
      await Promise.all(all.map((one) => one.stop()));
    }
    expect({ asked: asked.values, reached: reached.values, workers: followed.values }).toEqual({
      asked: [oldest, middle, newest],
      reached: [oldest, middle, newest],
      workers: [oldest, newest],
    });
  });
});

describe('A control plane whose class references another template', () => {
  test('is updated by one change of its TenantControlPlane', async () => {
    const own = await createOfClass('rotated', oldest);
    await serveAsAsked(client, own.name);
    await until(own, (object) => object?.status?.version === oldest, `status ${oldest}`);
    const address = at(controlPlane, 'StewardControlPlaneTemplate', className);
    const template = (await client.read(address))?.spec?.template as { readonly spec: object };
    const apiServer = { extraArgs: ['--goaway-chance=0.001'] };
    const { kind, apiVersion } = address;
    const second = { apiVersion, kind, name: 'second' };
    await client.apply([
      {
        ...{ apiVersion, kind, metadata: { name: second.name, namespace: 'default' } },
        spec: { template: { spec: { ...template.spec, apiServer } } },
      },
    ]);
    const before = await client.read(tenantAddress(own.name));
    await client.merge(at(capi, 'ClusterClass', className), { spec: { controlPlane: { templateRef: second } } });
    const changed = await until(own, (object) => object?.spec?.apiServer !== undefined, 'the field of the template');
    expect(changed?.spec).toMatchObject({ apiServer, version: oldest, replicas: 2 });
    expect(changed?.metadata?.annotations).toMatchObject({ 'cluster.x-k8s.io/cloned-from-name': 'second' });
    const argsOf = (object: PlainObject | undefined): string => JSON.stringify(object?.spec?.controlPlane);
    await until(tenantAddress(own.name), (object) => argsOf(object).includes('goaway'), 'the flag');
    await serveAsAsked(client, own.name);
    await until(own, (object) => conditionOf(object, 'RollingOut') === 'False', 'the end of the rollout');
    const after = await client.read(tenantAddress(own.name));
    expect((after?.metadata?.generation ?? 0) - (before?.metadata?.generation ?? 0)).toBe(1);
  });
});

describe('A control plane that is changed while core Cluster API is down', () => {
  test('reports the version that it reached, and the upgrade continues when core is back', async () => {
    const name = 'left';
    const own = await createOfClass(name, oldest);
    await serveAsAsked(client, own.name);
    await until(own, (object) => object?.status?.version === oldest, `status ${oldest}`);
    await client.merge(clusterAt(name), { spec: { topology: { version: newest } } });
    await until(
      tenantAddress(own.name),
      (object) => JSON.stringify(object?.spec?.kubernetes).includes(middle),
      `a TenantControlPlane of ${middle}`,
    );
    await core.leave();
    try {
      await client.delete(tenantAddress(own.name));
      await until(
        tenantAddress(own.name),
        (object) => object !== undefined && object.metadata?.deletionTimestamp === undefined,
        'a TenantControlPlane in the place of the one that is gone',
      );
      await serveAsAsked(client, own.name);
      const reached = await until(own, (object) => object?.status?.version === middle, `status ${middle}`);
      expect(versionOf(reached)).toBe(middle);
    } finally {
      await core.comeBack();
    }
    await until(own, (object) => versionOf(object) === newest, `spec ${newest}`);
  });
});

describe('A class with the variable and the patch of the page about backups', () => {
  const ofPage = 'restoring';
  const restoreFrom = { policyName: 'hourly' };
  const variables = [{ name: 'restoreFrom', value: restoreFrom }];

  beforeAll(async () => {
    const page = await readFile(join(import.meta.dirname, '..', '..', 'docs/how-to/back-up.md'), 'utf8');
    const [, snippet] = /```yaml\n(spec:\n {2}variables:\n.*?)```/s.exec(page) ?? [];
    const shown = parse(snippet ?? '') as {
      readonly spec: { readonly variables: object[]; readonly patches: object[] };
    };
    const ofClass = parseManifests(await readFile(classFile, 'utf8')).find(({ kind }) => kind === 'ClusterClass');
    await client.apply([
      {
        ...ofClass,
        metadata: { name: ofPage, namespace: 'default' },
        spec: {
          ...ofClass?.spec,
          variables: [...objectsIn(ofClass?.spec?.variables), ...shown.spec.variables],
          patches: [...objectsIn(ofClass?.spec?.patches), ...shown.spec.patches],
        },
      },
    ]);
  });

  const topologyIs = (name: string, status: string, says = ''): Promise<unknown> =>
    until(
      clusterAt(name),
      (object) => {
        const found = object?.status?.conditions?.find(({ type }) => type === 'TopologyReconciled') as
          { readonly status: string; readonly message?: string; readonly observedGeneration?: number } | undefined;
        const isSeen = found?.observedGeneration === object?.metadata?.generation;
        return isSeen && found?.status === status && (found.message ?? '').includes(says);
      },
      `TopologyReconciled ${status} ${says}`,
    );
  const setVariables = (name: string, list: readonly object[]): Promise<void> =>
    client.merge(clusterAt(name), { spec: { topology: { variables: list } } });
  const backupOf = (object: PlainObject | undefined): unknown => object?.spec?.restoreFrom;
  const replicasOf = (object: PlainObject | undefined): unknown =>
    (object?.spec?.controlPlane as { readonly deployment?: { readonly replicas?: number } } | undefined)?.deployment
      ?.replicas;

  test('lets a Cluster start from a backup, is not written against, and removes the field once that is restored', async () => {
    const name = 'moved';
    const own = await createOfClass(name, middle, { of: ofPage, variables });
    const isAwaiting = (object: PlainObject | undefined): boolean =>
      object?.metadata?.annotations?.[annotations.awaitsRestore] === `${own.name}-restore` && replicasOf(object) === 0;
    const tenant = await until(tenantAddress(own.name), isAwaiting, 'a TenantControlPlane that waits for its restore');
    const restore = await until(
      { ...tenantAddress(`${own.name}-restore`), kind: 'TenantRestore' },
      (object) => object !== undefined,
      'a TenantRestore',
    );
    expect(restore?.spec?.source).toEqual(restoreFrom);
    await topologyIs(name, 'True');
    const before = await client.read(own);
    expect(backupOf(before)).toEqual(restoreFrom);
    // The topology is reconciled again, because of a change that does not concern the control plane.
    const labels = { 'example.com/seen': 'again' };
    const machineDeployments = [{ class: 'default', name: 'md-0', replicas: 0, metadata: { labels } }];
    await client.merge(clusterAt(name), { spec: { topology: { workers: { machineDeployments } } } });
    await topologyIs(name, 'True');
    expect((await client.read(own))?.metadata?.generation).toBe(before?.metadata?.generation);

    const [task = '', identityOf = ''] = [restore?.metadata?.uid, tenant?.metadata?.uid];
    const mark = restoreMark({ task, upTo: '2030-01-01T00:00:00Z', identityOf });
    await client.merge(tenantAddress(own.name), { metadata: { annotations: { [annotations.restored]: mark } } });
    await until(own, (object) => conditionOf(object, 'Restored') === 'True', 'Restored');
    await until(tenantAddress(own.name), (object) => replicasOf(object) === 2, 'two replicas');
    await setVariables(name, []);
    await until(own, (object) => backupOf(object) === undefined, 'no restoreFrom anymore');
    await topologyIs(name, 'True');
    expect(conditionOf(await client.read(own), 'Restored')).toBe('True');
    expect(replicasOf(await client.read(tenantAddress(own.name)))).toBe(2);
  });

  test('lets a Cluster without the variable start empty, and gives it no backup later', async () => {
    const name = 'fresh';
    const own = await createOfClass(name, middle, { of: ofPage });
    await serveAsAsked(client, own.name);
    await until(own, (object) => object?.status?.version === middle, `status ${middle}`);
    expect(backupOf(await client.read(own))).toBeUndefined();
    const marks = (await client.read(tenantAddress(own.name)))?.metadata?.annotations;
    expect(marks?.[annotations.awaitsRestore]).toBeUndefined();
    await setVariables(name, variables);
    await topologyIs(name, 'False', 'restoreFrom is set on creation and cannot be added or changed');
    expect(backupOf(await client.read(own))).toBeUndefined();
    await setVariables(name, []);
    await topologyIs(name, 'True');
  });
});

/** A plain Cluster with a control plane of its name; the label names the Cluster, also before core makes it the owner. */
async function createPlain(name: string, paused: boolean): Promise<ObjectAddress> {
  const labels = { 'cluster.x-k8s.io/cluster-name': name };
  const metadata = { name, namespace: 'default', labels };
  const apiGroup = (apiVersion: string): string | undefined => apiVersion.split('/')[0];
  await client.apply([
    { apiVersion: infrastructureVersion, kind: 'NetnsCluster', metadata, spec: {} },
    {
      ...{ apiVersion: capi, kind: 'Cluster', metadata },
      spec: {
        paused,
        controlPlaneRef: { apiGroup: apiGroup(controlPlane), kind: 'StewardControlPlane', name },
        infrastructureRef: { apiGroup: apiGroup(infrastructureVersion), kind: 'NetnsCluster', name },
      },
    },
    {
      ...{ apiVersion: controlPlane, kind: 'StewardControlPlane', metadata },
      spec: { version: middle, replicas: 2, network: { serviceType: 'NodePort' } },
    },
  ]);
  return at(controlPlane, 'StewardControlPlane', name);
}

/** Whether it was reconciled since its spec changed, and is paused. */
function restsAsSpecified(object: PlainObject | undefined): boolean {
  const paused = object?.status?.conditions?.find(({ type }) => type === 'Paused') as
    { readonly status: string; readonly observedGeneration?: number } | undefined;
  return paused?.status === 'True' && paused.observedGeneration === object?.metadata?.generation;
}

const gone = (name: string): Promise<unknown> =>
  Promise.all(
    [
      clusterAt(name),
      at(controlPlane, 'StewardControlPlane', name),
      at(infrastructureVersion, 'NetnsCluster', name),
      tenantAddress(name),
    ].map((each) => until(each, isGone, 'its end')),
  );

describe('A Cluster that is deleted before it is complete', () => {
  test('is removed with its control plane, whose tenant never served', async () => {
    const name = 'half';
    await createPlain(name, false);
    await until(tenantAddress(name), (object) => object !== undefined, 'a TenantControlPlane');
    await client.delete(clusterAt(name));
    await gone(name);
  });

  test('is removed before there is a TenantControlPlane', async () => {
    const name = 'none';
    await createPlain(name, true);
    const own = at(controlPlane, 'StewardControlPlane', name);
    await until(own, (object) => conditionOf(object, 'Paused') === 'True', 'Paused');
    await client.delete(clusterAt(name));
    await client.merge(clusterAt(name), { spec: { paused: false } });
    await gone(name);
  });
});

describe('A Cluster that is paused', () => {
  test('is not changed before its creation, during it, during an upgrade and during its deletion', async () => {
    const name = 'resting';
    const pausedAnnotation = 'steward.butlerlabs.dev/paused';
    const pause = (paused: boolean): Promise<void> => client.merge(clusterAt(name), { spec: { paused } });
    const own = await createPlain(name, true);
    const rests = (): Promise<unknown> => until(own, restsAsSpecified, 'Paused, seen for the newest spec');
    const wakes = (): Promise<unknown> => until(own, (object) => conditionOf(object, 'Paused') === 'False', 'no pause');
    const tenantRests = (object: PlainObject | undefined): boolean =>
      object?.metadata?.annotations?.[pausedAnnotation] !== undefined;

    await rests();
    expect(await client.read(tenantAddress(name))).toBeUndefined();
    await pause(false);
    await until(tenantAddress(name), (object) => object !== undefined, 'a TenantControlPlane');

    await pause(true);
    await rests();
    await until(tenantAddress(name), tenantRests, 'a TenantControlPlane that rests');
    await pause(false);
    await wakes();
    await until(tenantAddress(name), (object) => !tenantRests(object), 'a TenantControlPlane that works');
    await serveAsAsked(client, name);
    await until(own, (object) => object?.status?.version === middle, `status ${middle}`);

    await pause(true);
    await rests();
    await client.merge(own, { spec: { version: newest } });
    await rests();
    const meanwhile = await client.read(tenantAddress(name));
    expect(meanwhile?.spec?.kubernetes).toMatchObject({ version: middle });
    await pause(false);
    await until(
      tenantAddress(name),
      (object) => JSON.stringify(object?.spec?.kubernetes).includes(newest),
      `a TenantControlPlane of ${newest}`,
    );

    await pause(true);
    await rests();
    await client.delete(own);
    await until(own, (object) => object?.metadata?.deletionTimestamp !== undefined, 'a deletion');
    await client.delete(clusterAt(name));
    await rests();
    expect(await client.read(tenantAddress(name))).toMatchObject({ kind: 'TenantControlPlane' });
    await pause(false);
    await gone(name);
  });
});
