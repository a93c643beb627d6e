import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';

import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import { parseManifests } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import { FluxStage } from '../framework/flux/flux-stage.ts';
import { GitServer } from '../framework/flux/git-server.ts';
import { fluxArchives } from '../framework/flux/flux-images.ts';
import { fluxNamespace, installFlux } from '../framework/flux/install-flux.ts';
import { pageFiles } from '../framework/flux/page-files.ts';
import type { HowToPage } from '../framework/how-to-page.ts';
import { openHowTo } from '../framework/how-to-page.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { startStewardCluster } from '../framework/steward-cluster.ts';
import { storeContents } from '../framework/store-contents.ts';
import { conditionOf, isCondition, TenantStage } from '../framework/tenant-stage.ts';

const owned = scenarioResources();
const root = path.join(import.meta.dirname, '..', '..');
const quickStart = path.join(root, 'config', 'datastores', 'etcd');
const [namespace, shop] = ['tenants', 'shop'] as const;
const tenantFile = 'tenants/shop.yaml';
const store: ObjectAddress = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: 'default' };

let cluster: ManagementCluster;
let stage: TenantStage;
let flux: FluxStage;
let page: HowToPage;
/** The manifests of the page, by the name of their file. */
let files: Readonly<Record<string, string>>;

/** A management cluster with Steward, without a datastore, and with Flux that follows an empty repository. */
beforeAll(async () => {
  const progress = (line: string): void => {
    logStep('flux', line);
  };
  // Beside a compiler, a cluster starts too slowly.
  await fluxArchives(progress);
  const name = owned.harness(`flux-${process.pid}`);
  cluster = owned.use(await startStewardCluster(name, logStep, { dataStore: undefined })).cluster;
  stage = new TenantStage(cluster, namespace);
  const { folder, network } = cluster.harness;
  const git = owned.use(await GitServer.start(path.join(folder, 'git'), network.gateway));
  flux = new FluxStage(cluster, git);
  page = await openHowTo(cluster, 'flux');
  const documented = await pageFiles('flux');
  const fleet = 'clusters/management/fleet.yaml';
  const here = (documented[fleet] ?? '').replace('https://git.example.com/fleet.git', git.url);
  files = { ...documented, [fleet]: here };
  await installFlux(cluster, progress);
}, 60 * minutes);

/** The tenant of the page, with parts of its spec merged in by a function. */
function changed(change: (spec: TenantSpec) => object): string {
  const tenant = parse(files[tenantFile] ?? '') as { readonly spec: TenantSpec };
  return stringify({ ...tenant, spec: { ...tenant.spec, ...change(tenant.spec) } });
}

interface TenantSpec {
  readonly controlPlane: { readonly deployment: object };
  readonly kubernetes: { readonly version: string };
}

/** The quick-start etcd, file by file, as somebody copies it into the folder `stores`. */
async function stores(): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(quickStart);
  const texts = names.map(async (name) => [`stores/${name}`, await readFile(path.join(quickStart, name), 'utf8')]);
  return Object.fromEntries((await Promise.all(texts)) as [string, string][]);
}

/** What `flux bootstrap` makes of the folder of a cluster. */
const bootstrap = (): PlainObject => ({
  apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
  kind: 'Kustomization',
  metadata: { name: 'flux-system', namespace: fluxNamespace },
  spec: {
    sourceRef: { kind: 'GitRepository', name: 'fleet' },
    path: './clusters/management',
    interval: '10m',
    prune: true,
  },
});

/** Whether the newest spec of a tenant is in place and nothing of it rolls out. */
function isInPlace(object: PlainObject | undefined): boolean {
  const observed = object?.status?.observedGeneration;
  return observed === object?.metadata?.generation && isCondition('Ready', 'True', 'Ready')(object);
}

/** That Flux waited for the tenant, and was Ready in no moment in which the tenant was not. */
async function expectWaited(revision: string): Promise<void> {
  const seen = await flux.besides('tenants', revision, stage.tenant(shop));
  const early = seen.filter((one) => one.isApplied && !isInPlace(one.other));
  expect(early).toEqual([]);
  const waiting = seen.filter((one) => !one.isApplied && one.other !== undefined && !isInPlace(one.other));
  expect(waiting.length).toBeGreaterThan(5);
}

const versionOf = (object: PlainObject | undefined): unknown =>
  (object?.status as { kubernetesResources?: { version?: object } } | undefined)?.kubernetesResources?.version;

describe('Flux', () => {
  test(
    'starts a datastore and then a control plane from git, and is Ready only when they are',
    async () => {
      const patch = await readFile(path.join(root, 'config/gitops/flux-health-checks.yaml'), 'utf8');
      const all = { ...files, ...(await stores()), 'clusters/management/flux-health-checks.yaml': patch };
      const [source] = parseManifests(files['clusters/management/fleet.yaml'] ?? '');
      if (source === undefined) throw new Error('The page has no GitRepository.');
      await cluster.apply([source]);
      const revision = await flux.push('a datastore and a control plane', all);
      await cluster.apply([bootstrap()]);
      await flux.applied('flux-system', revision);
      logStep('flux', 'has both Kustomizations');
      await expectWaited(revision);
      expect(isCondition('Ready', 'True')(await cluster.client.read(store))).toBe(true);
      const storesReady = await cluster.client.read(flux.kustomization('stores'));
      const since = conditionSince(storesReady, 'Ready');
      const tenant = await cluster.client.read(stage.tenant(shop));
      const created = tenant?.metadata?.creationTimestamp ?? '';
      expect(Date.parse(since)).toBeLessThanOrEqual(Date.parse(created));
      logStep('flux', `stores Ready at ${since}, ${shop} created at ${created}, both Kustomizations are Ready`);
    },
    8 * minutes,
  );

  test(
    'changes nothing when it applies the same manifests once more',
    async () => {
      for (const name of ['stores', 'tenants']) {
        const done = await flux.reconcile(name);
        logStep(`${name}, once more`, JSON.stringify(done));
        expect(Object.keys(done)).toContain(
          name === 'stores' ? 'DataStore/default' : `TenantControlPlane/${namespace}/${shop}`,
        );
        expect([...new Set(Object.values(done))]).toEqual(['unchanged']);
      }
      // Five minutes after its end, the Job is deleted.
      const job = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'steward-system', name: 'etcd-bootstrap' };
      await cluster.client.delete(job);
      await cluster.waitFor(job, (object) => object === undefined, { what: 'its end' });
      const { 'Job/steward-system/etcd-bootstrap': again, ...others } = await flux.reconcile('stores');
      expect(again).toBe('created');
      expect([...new Set(Object.values(others))]).toEqual(['unchanged']);
      expect(isCondition('Ready', 'True')(await cluster.client.read(store))).toBe(true);
    },
    4 * minutes,
  );

  test(
    'corrects the spec, leaves what the plugin has noted, and takes back what kubectl has set under its own name',
    async () => {
      const annotations = async (): Promise<Readonly<Record<string, string>>> =>
        (await cluster.client.read(stage.tenant(shop)))?.metadata?.annotations ?? {};
      await page.run('Drift');
      await cluster.kubectl(['-n', namespace, 'annotate', 'tcp', shop, 'example.com/note=of-kubectl']);
      await stage.waitFor(shop, isCondition('Paused', 'True'));
      await flux.reconcile('tenants');
      expect(await annotations()).toHaveProperty(['steward.butlerlabs.dev/paused']);
      expect(await annotations()).not.toHaveProperty(['example.com/note']);
      await page.run('Drift');
      await stage.waitFor(shop, isCondition('Paused', 'False'));
      const folder = path.join(cluster.harness.folder, 'plugin');
      await runCommand(process.execPath, [path.join(root, 'cmd/build-plugin.ts'), folder]);
      const words = ['sleep', shop, '--wait=false', '--kubeconfig', cluster.kubeconfig, '-n', namespace];
      await runCommand(process.execPath, [path.join(folder, 'kubectl-steward'), ...words]);
      const done = await flux.reconcile('tenants');
      expect(done[`TenantControlPlane/${namespace}/${shop}`]).toBe('configured');
      const found = await cluster.client.read(stage.tenant(shop));
      expect(isInPlace(found)).toBe(true);
      expect(found?.spec?.controlPlane).toMatchObject({ deployment: { replicas: 2 } });
      expect(await annotations()).toHaveProperty(['steward.butlerlabs.dev/replicas-before-sleep'], '2');
    },
    5 * minutes,
  );

  test(
    'rolls out a change in git and waits until only new pods serve',
    async () => {
      const flag = '--max-requests-inflight=300';
      const deployment = (spec: TenantSpec): object => ({
        ...spec.controlPlane.deployment,
        extraArgs: { apiServer: [flag] },
      });
      const text = changed((spec) => ({ controlPlane: { ...spec.controlPlane, deployment: deployment(spec) } }));
      files = { ...files, [tenantFile]: text };
      await expectWaited(await flux.push('fewer requests at a time', { [tenantFile]: text }));
      const pods = (await stage.pods(shop)).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
      expect(pods).toHaveLength(2);
      for (const pod of pods) expect(JSON.stringify(pod.spec)).toContain(flag);
    },
    5 * minutes,
  );

  test(
    'says what admission refuses, and changes nothing of that object',
    async () => {
      const before = await cluster.client.read(stage.tenant(shop));
      const text = changed(() => ({ kubernetes: { version: 'v1.34.0' } }));
      const revision = await flux.push('an older minor', { [tenantFile]: text });
      const message = await flux.failed('tenants', revision, 'ReconciliationFailed');
      logStep('refused', message);
      expect(message).toContain(`TenantControlPlane/${namespace}/${shop}`);
      expect(message).toMatch(/spec\.kubernetes\.version "?v1\.34\.0/);
      const after = await cluster.client.read(stage.tenant(shop));
      expect(after?.metadata?.generation).toBe(before?.metadata?.generation);
    },
    3 * minutes,
  );

  test(
    'fails at once when a rollout has failed, while the page’s commands say why, and recovers with the next commit',
    async () => {
      const text = changed(() => ({ kubernetes: { version: 'v1.36.99' } }));
      const began = performance.now();
      const revision = await flux.push('a version without an image', { [tenantFile]: text });
      // The page has Flux wait for ten minutes.
      const message = await flux.failed('tenants', revision, 'HealthCheckFailed', 4 * minutes);
      logStep('failed', `after ${((performance.now() - began) / 1000).toFixed(0)} s: ${message}`);
      const named = `failed early due to stalled resources: [TenantControlPlane/${namespace}/${shop} status: 'Failed']`;
      expect(message).toContain(named);
      const said = await page.run('Wait for the right thing');
      logStep('the page says', said);
      expect(said).toContain(named);
      expect(said).toMatch(/from v1\.36\.3 to v1\.36\.99 was rolled back to the previous pods.*Image/s);
      const found = await cluster.client.read(stage.tenant(shop));
      expect(conditionOf(found, 'Ready')).toMatchObject({ status: 'True', reason: 'RolloutFailed' });
      expect(versionOf(found)).toMatchObject({ version: 'v1.36.3', status: 'Ready' });
      const repaired = await flux.push('the version before', { [tenantFile]: files[tenantFile] });
      await flux.applied('tenants', repaired);
      expect(isInPlace(await cluster.client.read(stage.tenant(shop)))).toBe(true);
    },
    8 * minutes,
  );

  test(
    'prunes a control plane that is no longer in git, with its data, and leaves the datastore',
    async () => {
      expect(page.untried).toEqual([]);
      expect((await storeContents(cluster)).keys.length).toBeGreaterThan(100);
      // By mistake, the datastore is removed as well.
      const none = { ...Object.fromEntries(Object.keys(await stores()).map((file) => [file, undefined])) };
      const note = stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'none', namespace: 'default' } });
      const revision = await flux.push('nothing', { ...none, 'stores/none.yaml': note, [tenantFile]: undefined });
      for (const name of ['stores', 'tenants']) await flux.applied(name, revision);
      await stage.gone(stage.tenant(shop));
      expect(await storeContents(cluster)).toEqual({ keys: [], users: ['root'], roles: ['root'] });
      expect(isCondition('Ready', 'True')(await cluster.client.read(store))).toBe(true);
    },
    4 * minutes,
  );
});

function conditionSince(object: PlainObject | undefined, type: string): string {
  const found = conditionOf(object, type) as { readonly lastTransitionTime?: string } | undefined;
  return found?.lastTransitionTime ?? '';
}
