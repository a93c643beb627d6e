import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import type { ObjectAddress } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { accountToken } from '../framework/metrics/account-token.ts';
import { DashboardStage } from '../framework/metrics/dashboard-stage.ts';
import { podMonitorJobs } from '../framework/metrics/pod-monitor-jobs.ts';
import type { DiscoveredPod, PodMonitorSpec } from '../framework/metrics/pod-monitor-jobs.ts';
import { statusWithCertificate } from '../framework/metrics/status-with-certificate.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';
import { logStep } from '../framework/log.ts';
import { minutes } from '../framework/minutes.ts';
import { Prometheus } from '../framework/metrics/prometheus.ts';
import { untilReached } from '../framework/network/until-reached.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import { TenantStage, tenantManifest } from '../framework/tenant-stage.ts';

const owned = scenarioResources();
const namespace = 'watched';
const shop = 'shop';
const selector = 'control-plane=controller-manager';
const deployment = 'deployment/steward-controller-manager';

let cluster: ManagementCluster;
let stage: TenantStage;
let prometheus: Prometheus;

beforeAll(async () => {
  const steward = owned.use(await shareStewardCluster(owned.harness(`observed-${process.pid}`), logStep));
  cluster = steward.cluster;
  stage = new TenantStage(cluster, namespace);
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
  const token = await accountToken(cluster, 'prometheus', true);
  prometheus = owned.use(await Prometheus.start({ harness: cluster.harness, token, rules: await hastyRules() }));
  await scrapeManager();
}, 25 * minutes);

/** Where the chart has the alerts and the dashboards. */
const shipped = path.join(import.meta.dirname, '../../charts/steward/files');

/** The rules of the chart. Nobody waits here for five minutes: what is so for a second is reported. */
async function hastyRules(): Promise<object> {
  const text = await readFile(path.join(shipped, 'alerts.yaml'), 'utf8');
  return parse(text.replaceAll(/^( +for: ).*$/gm, '$11s')) as object;
}

/** Every query of every dashboard. */
async function dashboardQueries(): Promise<readonly string[]> {
  const folder = path.join(shipped, 'dashboards');
  const files = await Promise.all((await readdir(folder)).map((file) => readFile(path.join(folder, file), 'utf8')));
  return files.flatMap((file) => {
    const { panels } = JSON.parse(file) as { readonly panels: readonly { readonly targets: readonly Target[] }[] };
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  });
}

const kubectl = async (...args: readonly string[]): Promise<string> => (await cluster.kubectl(args)).stdout;

/** Waits until Prometheus had data for all of these queries, and returns those for which it never had any. */
async function emptyQueries(queries: readonly string[], timeoutMs: number): Promise<readonly string[]> {
  let empty = queries;
  for (const deadline = deadlineIn(timeoutMs); empty.length > 0 && Date.now() < deadline;) {
    const left: string[] = [];
    for (const expr of empty) {
      const samples = await prometheus.query(expr.replaceAll('$namespace', namespace).replaceAll('$name', shop));
      if (samples.every(({ value }) => value[1] === 'NaN')) left.push(expr);
    }
    empty = left;
    await pause(500);
  }
  return empty;
}

/** Lets Prometheus scrape the pods of the manager that there are now. */
async function scrapeManager(): Promise<void> {
  const pods = await cluster.client.list('v1', 'Pod', 'steward-system', selector);
  const addresses = pods
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ status }) => `${String(status?.podIP)}:8443`);
  await prometheus.scrape(addresses);
}

const changeTenant = (spec: object): Promise<unknown> => cluster.client.merge(stage.tenant(shop), { spec });

const changeStore = (spec: object | null): Promise<unknown> =>
  cluster.client.merge(
    { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: 'default' },
    { spec: { placement: spec } },
  );

/** The kind without its schema: nobody but Steward writes objects of it here. */
const podMonitorDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'podmonitors.monitoring.coreos.com' },
  spec: {
    group: 'monitoring.coreos.com',
    names: { kind: 'PodMonitor', listKind: 'PodMonitorList', plural: 'podmonitors', singular: 'podmonitor' },
    scope: 'Namespaced',
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const monitorOf = (name: string): ObjectAddress => {
  return { apiVersion: 'monitoring.coreos.com/v1', kind: 'PodMonitor', namespace, name };
};

/** Tells the manager whether Prometheus scrapes control planes, and waits for the manager that knows it. */
async function switchMonitoring(isOn: boolean): Promise<void> {
  const path = '/spec/template/spec/containers/0/args/-';
  const patch = JSON.stringify([{ op: 'add', path, value: '--monitor-tenants' }]);
  if (isOn) await kubectl('-n', 'steward-system', 'patch', deployment, '--type=json', '--patch', patch);
  else await kubectl('-n', 'steward-system', 'rollout', 'undo', deployment);
  await kubectl('-n', 'steward-system', 'rollout', 'status', deployment, kubectlTimeout(90));
  await scrapeManager();
}

/** The pods of a control plane, as Prometheus discovers them. */
async function podsOf(name: string): Promise<readonly DiscoveredPod[]> {
  const pods = await cluster.client.list('v1', 'Pod', namespace, `steward.butlerlabs.dev/name=${name}`);
  return pods
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ metadata, spec, status }) => ({
      ...{ namespace, name: metadata?.name ?? '', ip: String(status?.podIP), labels: metadata?.labels ?? {} },
      containers: (spec?.containers as readonly { readonly name: string }[]).map((container) => container.name),
    }));
}

/** A query of a panel. */
interface Target {
  readonly expr: string;
}

/** What goes wrong, the alert that says so, and what its page tells to do. */
interface Fault {
  readonly what: string;
  readonly alert: string;
  readonly inject: () => Promise<unknown>;
  readonly mend: () => Promise<unknown>;
}

const pausedAnnotation = { 'steward.butlerlabs.dev/paused': 'true' };
const unreachable = {
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: { name: 'nowhere' },
  spec: {
    driver: 'PostgreSQL',
    endpoints: ['nowhere.invalid:5432'],
    basicAuth: { username: { content: 'cm9vdA==' }, password: { content: 'cm9vdA==' } },
  },
};

const faults: readonly Fault[] = [
  {
    what: 'no manager runs',
    alert: 'StewardManagerAbsent',
    inject: async () => {
      await kubectl('-n', 'steward-system', 'scale', deployment, '--replicas=0');
      await prometheus.scrape([]);
    },
    mend: async () => {
      await kubectl('-n', 'steward-system', 'scale', deployment, '--replicas=1');
      await kubectl('-n', 'steward-system', 'rollout', 'status', deployment, kubectlTimeout(90));
      await scrapeManager();
    },
  },
  {
    what: 'a DataStore cannot be reached',
    alert: 'StewardDataStoreUnusable nowhere',
    inject: () => cluster.apply([unreachable]),
    mend: () => kubectl('delete', 'datastore', 'nowhere', kubectlTimeout(60)),
  },
  {
    what: 'a DataStore is full',
    alert: 'StewardDataStoreFull default',
    inject: () => changeStore({ capacity: { tenants: 1 } }),
    mend: () => changeStore(null),
  },
  {
    what: 'the pods of a control plane find no node',
    alert: 'StewardTenantUnavailable lost',
    inject: () =>
      cluster.apply([
        tenantManifest(namespace, 'lost', {
          controlPlane: {
            deployment: { replicas: 1, nodeSelector: { absent: 'true' } },
            service: { serviceType: 'ClusterIP' },
          },
        }),
      ]),
    mend: async () => {
      await cluster.client.merge(stage.tenant('lost'), {
        spec: { controlPlane: { deployment: { nodeSelector: null } } },
      });
      await stage.waitFor('lost', 'Ready');
    },
  },
  {
    what: 'a certificate is not renewed because its tenant is paused',
    alert: `StewardCertificateExpiring ${shop}-api-server-certificate`,
    inject: async () => {
      await cluster.client.merge(stage.tenant(shop), { metadata: { annotations: pausedAnnotation } });
      await stage.waitFor(shop, (object) =>
        (object?.status?.conditions ?? []).some(({ type, status }) => type === 'Paused' && status === 'True'),
      );
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      const annotation = `certs.steward.butlerlabs.dev/expires=${expires}`;
      await kubectl('-n', namespace, 'annotate', '--overwrite', 'secret', `${shop}-api-server-certificate`, annotation);
    },
    mend: () =>
      cluster.client.merge(stage.tenant(shop), {
        metadata: { annotations: { 'steward.butlerlabs.dev/paused': null } },
      }),
  },
  {
    what: 'the image of a new version does not exist',
    alert: `StewardUpgradeHeld ${shop}`,
    inject: () => changeTenant({ controlPlane: { deployment: { registrySettings: { apiServerImage: 'absent' } } } }),
    mend: async () => {
      await changeTenant({ controlPlane: { deployment: { registrySettings: { apiServerImage: 'kube-apiserver' } } } });
      await stage.waitFor(shop, 'Ready');
    },
  },
];

describe('Prometheus', () => {
  test(
    'has no alert and at most 25 series of a control plane that is Ready',
    async () => {
      await cluster.apply([stage.manifest(shop, { addons: { coreDNS: {}, kubeProxy: {} } })]);
      await stage.waitFor(shop, 'Ready');
      expect(await prometheus.fires([])).toEqual([]);
      // Both ways to its API server are probed within an interval.
      const up = `steward_tenant_probe_success{namespace="${namespace}",name="${shop}"} == 1`;
      for (const deadline = deadlineIn(minutes); (await prometheus.query(up)).length < 2;) {
        if (Date.now() > deadline) throw new Error(JSON.stringify(await prometheus.query(up.replace(' == 1', ''))));
        await pause(500);
      }
      const series = await prometheus.query(`{__name__=~"steward_.+",namespace="${namespace}",name="${shop}"}`);
      logStep('series', `${series.length} of one control plane`);
      expect(series.length).toBeGreaterThan(15);
      expect(series.length).toBeLessThanOrEqual(25);
    },
    8 * minutes,
  );

  test.each(faults)(
    'reports exactly $alert when $what, and nothing anymore once it is mended',
    async ({ what, alert, inject, mend }) => {
      await inject();
      expect(await prometheus.fires([alert])).toEqual([alert]);
      logStep(what, alert);
      await mend();
      expect(await prometheus.fires([])).toEqual([]);
    },
    15 * minutes,
  );

  test(
    'has data for every query of every dashboard',
    async () => {
      const queries = await dashboardQueries();
      expect(queries.length).toBeGreaterThan(20);
      await using subjects = new DashboardStage(stage);
      const targets = await subjects.startActivator();
      try {
        await prometheus.scrapeAlso([{ job_name: 'activator', static_configs: [{ targets }] }]);
        // A condition that is False, and a DataStore with a capacity.
        await changeStore({ capacity: { tenants: 50 } });
        await subjects.scaleToZero('asleep');
        await subjects.leaveUnused(shop);
        await subjects.claimInVain();
        await Promise.all([subjects.wakeByCall('called'), subjects.claimTwice()]);
        expect(await emptyQueries(queries, 4 * minutes)).toEqual([]);
      } finally {
        await changeStore(null);
        await prometheus.scrapeAlso([]);
      }
    },
    20 * minutes,
  );

  test(
    'scrapes the components of a control plane as its PodMonitor says, with a certificate that opens nothing else',
    async () => {
      await cluster.apply([podMonitorDefinition]);
      await kubectl(
        'wait',
        '--for=condition=Established',
        `crd/${podMonitorDefinition.metadata.name}`,
        kubectlTimeout(60),
      );
      await switchMonitoring(true);
      const monitor = await cluster.waitFor(monitorOf(shop), (object) => object !== undefined);
      const secret = stage.at('Secret', `${shop}-monitoring-certificate`);
      const { data = {} } = (await cluster.waitFor(secret, (object) => object !== undefined)) ?? {};
      const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
      const files = new Map<string, string>();
      for (const key of Object.keys(data)) files.set(key, await prometheus.keep(`${shop}-${key}`, text(key)));
      const jobs = podMonitorJobs({
        name: `${namespace}/${shop}`,
        spec: monitor?.spec as unknown as PodMonitorSpec,
        pods: await podsOf(shop),
        fileOf: ({ name, key }) => {
          expect(name).toBe(secret.name);
          return files.get(key) ?? '';
        },
      });
      await prometheus.scrapeAlso(jobs);
      const up = `up{namespace="${namespace}",tenant="${shop}"} == 1`;
      const jobsUp = async (): Promise<readonly string[]> =>
        (await prometheus.query(up)).map(({ metric }) => metric.job ?? '').toSorted();
      const hasSeries = async (name: string): Promise<boolean> =>
        (await prometheus.query(`${name}{tenant="${shop}"}`)).length > 0;
      // A scrape that took too long on a busy machine leaves nothing to see until the next one.
      await untilReached(async () => {
        expect(await jobsUp()).toEqual(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']);
        for (const name of ['apiserver_request_total', 'workqueue_depth', 'scheduler_pending_pods'])
          expect([name, await hasSeries(name)]).toEqual([name, true]);
      });
      const [series] = await prometheus.query(`count({namespace="${namespace}",tenant="${shop}"})`);
      logStep('series', `${series?.value[1] ?? ''} of the components of one control plane`);
      expect(Number(series?.value[1])).toBeLessThan(3000);
      const [apiServer] = await prometheus.query(`up{job="kube-apiserver",tenant="${shop}"}`);
      const identity = { cert: text('tls.crt'), key: text('tls.key') };
      const statusOf = (path: string): Promise<number> =>
        statusWithCertificate(`https://${apiServer?.metric.instance ?? ''}${path}`, identity);
      expect(await statusOf('/metrics')).toBe(200);
      expect(await statusOf('/api/v1/namespaces/kube-system/secrets')).toBe(403);

      await prometheus.scrapeAlso([]);
      await switchMonitoring(false);
      await cluster.waitFor(secret, (object) => object === undefined);
      await cluster.waitFor(monitorOf(shop), (object) => object === undefined);
      await kubectl('delete', 'crd', podMonitorDefinition.metadata.name, kubectlTimeout(60));
    },
    6 * minutes,
  );
});
