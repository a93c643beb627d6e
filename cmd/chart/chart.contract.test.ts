import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { allKinds } from '../../api/all-kinds.ts';
import { clusterStackGroup } from '../../clusterstacks/api/names.ts';
import { crd, crdName } from '../../api/generate/crd.ts';
import { roleManifest } from '../../api/generate/role.ts';
import type { Manifest, PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';
import { chartCases } from '../../testing/builders/chart-cases.ts';
import { chartFolder, helm, renderedChart } from '../../testing/repository/rendered-chart.ts';
import { datastoreBootstrapFlags } from '../flags/datastore-bootstrap-flags.ts';
import { declaredRoles } from '../declared-access.ts';
import { readFlags } from '../flags/flags.ts';
import { readManagerSettings } from '../flags/manager-settings.ts';

const root = join(import.meta.dirname, '..', '..');

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string }[];
}
type Workload = Manifest & {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
    readonly jobTemplate?: { readonly spec: Workload['spec'] };
  };
};
type WithRules = Manifest & { readonly rules: readonly PolicyRule[] };

const pod = { POD_NAMESPACE: 'steward-system', POD_NAME: 'steward-0' };

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the shape that the kind has
const found = <T extends Manifest>(manifests: readonly Manifest[], kind: string, name: string): T => {
  const manifest = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  if (manifest === undefined) throw new Error(`there is no ${kind} ${name}`);
  return manifest as T;
};

const container = (workload: Workload): Container => {
  const { spec } = workload.spec.jobTemplate?.spec.template ?? workload.spec.template;
  const [first] = spec.containers;
  if (first === undefined) throw new Error(`${workload.metadata.name} has no container`);
  return first;
};

const manager = (manifests: readonly Manifest[], name = 'steward-controller-manager'): Container =>
  container(found<Workload>(manifests, 'Deployment', name));

/** Every right of the rules by itself, sorted. */
const rightsOf = (rules: readonly PolicyRule[]): readonly string[] =>
  rules
    .flatMap(({ apiGroups = [''], resources = [], nonResourceURLs = [], resourceNames = ['*'], verbs }) =>
      [...resources, ...nonResourceURLs].flatMap((resource) =>
        apiGroups.flatMap((group) =>
          resourceNames.flatMap((name) => verbs.map((verb) => [group, resource, name, verb].join(' '))),
        ),
      ),
    )
    .sort();

const documents = (...path: readonly string[]): readonly Manifest[] =>
  parseAllDocuments(readFileSync(join(root, ...path), 'utf8'), { version: '1.1' }).map(
    (document) => document.toJS() as Manifest,
  );

/** The manifests that a kustomization of config/ names, without those of some files. */
const resourcesOf = (folder: string, ...without: readonly string[]): readonly Manifest[] => {
  const text = readFileSync(join(root, 'config', folder, 'kustomization.yaml'), 'utf8');
  const { resources } = parse(text) as { readonly resources: readonly string[] };
  return resources.filter((file) => !without.includes(file)).flatMap((file) => documents('config', folder, file));
};

describe('the charts', () => {
  test.each(['steward', 'steward-crds'])('%s passes helm lint --strict', async (chart) => {
    expect(await helm('lint', '--strict', chartFolder(chart))).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test.each(Object.entries(chartCases))(
    '%s: helm renders it, and the programs understand every flag',
    async (_, values) => {
      const manifests = await renderedChart('steward', values);
      const name = 'fullnameOverride' in values ? 'cp-controller-manager' : 'steward-controller-manager';
      const [command, ...flags] = manager(manifests, name).args;
      expect(command).toBe('manager');
      expect(() => readManagerSettings(flags, pod)).not.toThrow();
      const jobs = manifests.filter(({ kind }) => kind === 'Job' || kind === 'CronJob') as Workload[];
      for (const job of jobs) {
        const [program, store, ...jobFlags] = container(job).args;
        expect([program, store]).toEqual(['datastore-bootstrap', 'etcd']);
        const numbers = jobFlags.map((each) => each.replace('$(MEMBERS)', '1'));
        expect(() => readFlags(datastoreBootstrapFlags, numbers)).not.toThrow();
      }
    },
  );

  test('the activator is started as config/activator starts it', async () => {
    const ofChart = await renderedChart('steward', { 'activator.enabled': true });
    const [one, other] = [ofChart, documents('config', 'activator', 'activator.yaml')].map((manifests) => {
      const { args, command, env } = manager(manifests, 'steward-activator');
      return { args, command, env };
    });
    expect(one).toEqual(other);
    expect(one?.env?.map(({ name }) => name)).toContain('MALLOC_MMAP_THRESHOLD_');
  });

  test('the activator is scraped where the manager is', async () => {
    const of = async (values: object): Promise<readonly Manifest[]> =>
      (await renderedChart('steward', values)).filter(({ metadata }) => metadata.name === 'steward-activator');
    const both = { 'activator.enabled': true, 'serviceMonitor.enabled': true, 'serviceMonitor.interval': '7s' };
    const manifests = await of(both);
    const service = manifests.find(({ kind }) => kind === 'Service');
    const monitor = manifests.find(({ kind }) => kind === 'ServiceMonitor');
    expect(monitor?.spec).toEqual({
      selector: { matchLabels: service?.metadata.labels },
      endpoints: [{ port: 'healthcheck', interval: '7s' }],
    });
    expect(await of({ ...both, 'activator.enabled': false })).toEqual([]);
    const without = await of({ ...both, 'serviceMonitor.enabled': false });
    expect(without.map(({ kind }) => kind)).not.toContain('ServiceMonitor');
  });

  test('a release in another namespace names nothing of steward-system', async () => {
    const manifests = await renderedChart('steward', {}, 'elsewhere');
    expect(JSON.stringify(manifests)).not.toContain('steward-system');
    const namespaced = manifests.filter(({ metadata }) => metadata.namespace !== undefined);
    expect(new Set(namespaced.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['elsewhere']));
  });

  test.each([
    [{ replicaCount: 2, leaderElect: false }, /several managers would reconcile the same objects/],
    [{ shards: true, leaderElect: false }, /shards is true and leaderElect is false/],
    [{ 'etcd.members': 2 }, /etcd\.members is even/],
    [{ 'tenantControlPlanes.enabled': false, 'clusterApi.enabled': false }, /there is nothing to run/],
    [{ 'serviceMonitor.enabled': true, 'metrics.service.enabled': false }, /needs metrics\.service\.enabled/],
    [{ 'featureGates.RuntimeSDK': true }, /needs clusterStacks\.enabled/],
    [{ 'profiling.enabled': true, 'metrics.secure': false }, /profiling\.enabled needs metrics\.secure/],
    [{ 'authors.podSecurityStandard': 'strict' }, /value must be one of/],
    [{ replicas: 2 }, /additional properties 'replicas' not allowed/],
    [{ 'image.digest': 'latest' }, /does not match pattern/],
  ])('%j is refused with its reason', async (values, reason) => {
    await expect(renderedChart('steward', values)).rejects.toThrow(reason);
  });

  test('every branch of the templates is reached by a case', async () => {
    const rendered = await Promise.all(Object.values(chartCases).map((values) => renderedChart('steward', values)));
    const kinds = new Set(rendered.flat().map(({ kind }) => kind));
    for (const kind of ['PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor', 'StatefulSet', 'CronJob']) {
      expect(kinds).toContain(kind);
    }
    expect(rendered.some((manifests) => manifests.every(({ kind }) => kind !== 'ClusterRole'))).toBe(true);
  });
});

describe('the manager of the chart', () => {
  test('is that of config/manager', async () => {
    const [, deployment] = documents('config', 'manager', 'manager.yaml') as [Manifest, Workload];
    const written = deployment.spec.template.spec;
    const { spec } = found<Workload>(await renderedChart('steward'), 'Deployment', 'steward-controller-manager').spec
      .template;
    const more = [
      'webhook-service-name',
      'metrics-bind-address',
      'health-probe-bind-address',
      'zap-log-level',
      'zap-encoder',
      ...['max-concurrent-tcp-reconciles', 'max-concurrent-reconciles', 'max-starting-control-planes'],
      ...['object-metrics', 'tenant-probe-interval', 'watch-tenants', 'certificate-expiration-deadline'],
      'default-pod-security-standard',
    ];
    const args = manager(await renderedChart('steward'))
      .args.filter((flag) => !more.some((name) => flag.startsWith(`--${name}=`)))
      .map((flag) => flag.replace('=true', ''));
    expect(args).toEqual(container(deployment).args);
    expect({ ...spec, containers: [{ ...spec.containers[0], args }] }).toEqual(written);
    // What is added are the defaults of the flags.
    const settings = ({ args: [, ...flags] }: Container) => readManagerSettings(flags, pod);
    expect(settings(manager(await renderedChart('steward')))).toEqual(settings(container(deployment)));
  });

  test.each([
    [{}, 8],
    [{ 'clusterApi.enabled': false }, 7],
    [{ 'tenantControlPlanes.enabled': false }, 1],
  ])('with %j chooses %i controllers', async (values, count) => {
    const [, ...flags] = manager(await renderedChart('steward', values)).args;
    expect(readManagerSettings(flags, pod).controllers.size).toBe(count);
  });

  test.each<readonly [object, object]>([
    [
      { concurrency: { tenantControlPlanes: 16, stewardControlPlanes: 4, startingControlPlanes: 3 } },
      { tenantConcurrency: 16, controlPlaneConcurrency: 4, mostStarts: 3 },
    ],
    [{ watchTenants: false }, { watchTenants: false }],
    [{ certificateExpirationDeadline: '48h' }, { renewBeforeMs: 48 * 3_600_000 }],
    [{ maxKubernetesMinor: 35 }, { newestMinor: 35 }],
    [{ kineImage: 'r.example/kine:v1' }, { kineImage: 'r.example/kine:v1' }],
    [
      { 'tracing.endpoint': 'http://c:4318/v1/traces', 'tracing.percent': 5 },
      { tracing: { endpoint: 'http://c:4318/v1/traces', ratio: 0.05 } },
    ],
    [{ 'profiling.enabled': true }, { profiling: true }],
    [{ 'metrics.objects': false }, { objectMetrics: false, probeIntervalMs: undefined }],
    [{ 'metrics.tenantProbeInterval': '1m' }, { objectMetrics: true, probeIntervalMs: 60_000 }],
    [{ 'logging.level': 'debug', 'logging.encoder': 'console' }, { log: { level: 'debug', format: 'text' } }],
    [{ defaultDatastoreName: 'shared' }, { defaultDataStore: 'shared' }],
    [{ 'clusterStacks.enabled': true, 'featureGates.RuntimeSDK': true }, { gates: { runtimeSdk: true } }],
    [
      { 'backups.enabled': true, 'backups.claims': ['backups', 'archive'], 'backups.buckets': ['bucket'] },
      {
        gates: { backups: true },
        backupClaims: new Set(['backups', 'archive']),
        backupBuckets: new Set(['bucket']),
      },
    ],
  ])('with %j has the settings %j', async (values, expected) => {
    const [, ...flags] = manager(await renderedChart('steward', values)).args;
    expect(readManagerSettings(flags, pod)).toMatchObject(expected);
  });

  test('allows authors what the flags allow them', async () => {
    const authors = {
      externalIPs: ['192.0.2.0/24', '2001:db8::/64'],
      annotations: ['example.com/', '*'],
      extraArgs: ['apiServer:token-auth-file', 'v'],
      podSecurityStandard: 'restricted',
    };
    const [, ...given] = manager(await renderedChart('steward', { authors })).args;
    const flags = [
      ...['--allow-external-ips=192.0.2.0/24,2001:db8::/64', '--allow-annotations=example.com/,*'],
      ...['--allow-extra-args=apiServer:token-auth-file,v', '--default-pod-security-standard=restricted'],
    ];
    const [{ boundaries, reach }, expected] = [readManagerSettings(given, pod), readManagerSettings(flags, pod)];
    expect({ boundaries, reach }).toEqual({ boundaries: expected.boundaries, reach: expected.reach });
  });

  test('its feature gates are those that are switched on, each by itself, and the manager knows them', async () => {
    const gatesWith = async (values: object) => {
      const [, ...args] = manager(await renderedChart('steward', values)).args;
      const { externalClusterReference, externalClusterReferenceCrossNamespace } = readManagerSettings(args, pod).gates;
      const isAsked = args.some((each) => each.startsWith('--feature-gates'));
      return [isAsked, externalClusterReference, externalClusterReferenceCrossNamespace];
    };
    const [external, anywhere] = ['ExternalClusterReference', 'ExternalClusterReferenceCrossNamespace'];
    expect(await gatesWith({})).toEqual([false, false, false]);
    expect(await gatesWith({ [`featureGates.${external}`]: true })).toEqual([true, true, false]);
    expect(await gatesWith({ [`featureGates.${anywhere}`]: true })).toEqual([true, false, true]);
  });

  test('its image is the given one: by digest before tag, else the version of the chart', async () => {
    const images = async (values: object): Promise<readonly string[]> => {
      const manifests = await renderedChart('steward', values);
      const workloads = manifests.filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind)) as Workload[];
      return [...new Set(workloads.map((workload) => container(workload).image))];
    };
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await images({})).toEqual([`ghcr.io/butlerdotdev/steward:v${version}`]);
    const digest = `sha256:${'a'.repeat(64)}`;
    const given = { 'image.repository': 'r.example/s', 'image.tag': 'x' };
    expect(await images(given)).toEqual(['r.example/s:x']);
    expect(await images({ ...given, 'image.digest': digest })).toEqual([`r.example/s@${digest}`]);
  });
});

describe('the permissions of the chart', () => {
  test('are those that the code declares', async () => {
    const manifests = await renderedChart('steward');
    for (const role of declaredRoles) {
      const expected = roleManifest(role) as WithRules;
      const { rules } = found<WithRules>(manifests, expected.kind, role.name);
      expect([...new Set(rightsOf(rules))]).toEqual(rightsOf(expected.rules));
    }
  });

  test('are bound as config/rbac binds them', async () => {
    const manifests = await renderedChart('steward');
    const isOwnAccount = ({ kind, metadata }: Manifest) =>
      kind === 'ServiceAccount' && metadata.name === 'steward-controller-manager';
    for (const written of resourcesOf('rbac', 'role.yaml').filter((each) => !isOwnAccount(each))) {
      expect(found(manifests, written.kind, written.metadata.name)).toEqual(written);
    }
  });

  test('of the processes of backups are those of config/backup', async () => {
    const manifests = await renderedChart('steward', { 'backups.enabled': true });
    for (const written of resourcesOf('backup')) {
      expect(found(manifests, written.kind, written.metadata.name)).toEqual(written);
    }
  });

  test('of each half go with it', async () => {
    const rightsWith = async (values: object): Promise<string> => {
      const manifests = await renderedChart('steward', values);
      const { rules } = found<WithRules>(manifests, 'ClusterRole', 'steward-manager-role');
      const names = manifests.map(({ metadata }) => metadata.name).join(' ');
      return `${[...new Set(rightsOf(rules))].join('\n')}\n${names}`;
    };
    const [tenants, clusterApi] = await Promise.all([
      rightsWith({ 'clusterApi.enabled': false }),
      rightsWith({ 'tenantControlPlanes.enabled': false }),
    ]);
    expect(tenants).toContain('deployments');
    // Whether a TenantControlPlane may be deleted depends on its owner, also where no controller reconciles that.
    const owner = 'controlplane.cluster.x-k8s.io stewardcontrolplanes * get\n';
    expect(tenants).toContain(owner);
    expect(tenants.replace(owner, '')).not.toMatch(/cluster\.x-k8s\.io|capi|infrastructure|kubeadm-bootstrap/);
    expect(clusterApi).toContain('controlplane.cluster.x-k8s.io');
    expect(clusterApi).toMatch(/capi.*infrastructure/);
    expect(clusterApi).not.toMatch(/deployments|steward-migrate/);
  });

  test('the kubeadm bootstrap provider has those of clusterctl/, by its usual name', async () => {
    const text = readFileSync(join(root, 'clusterctl', 'kubeadm-bootstrap-rbac.yaml'), 'utf8');
    const manifests = await renderedChart('steward');
    for (const document of parseAllDocuments(text.replaceAll(/\$\{\w+:=([^}]*)\}/g, '$1'))) {
      const written = document.toJS() as Manifest;
      expect(found(manifests, written.kind, written.metadata.name)).toEqual(written);
    }
  });

  test('the kubeadm bootstrap provider’s account is a User with the given names', async () => {
    const values = { 'clusterApi.kubeadmBootstrap': { namespace: 'ns', serviceAccount: 'sa' } };
    const binding = found(
      await renderedChart('steward', values),
      'ClusterRoleBinding',
      'steward-kubeadm-bootstrap-reader',
    );
    expect(binding).toMatchObject({ subjects: [{ kind: 'User', name: 'system:serviceaccount:ns:sa' }] });
  });
});

describe('the webhooks of the chart', () => {
  test('are those of config/webhook, behind the Service of the release', async () => {
    const manifests = await renderedChart('steward');
    for (const written of documents('config', 'webhook', 'webhooks.yaml').slice(1)) {
      expect(found(manifests, written.kind, written.metadata.name)).toEqual(written);
    }
    const service = found(manifests, 'Service', 'steward-webhook-service');
    expect(service).toMatchObject({ spec: { ports: [{ port: 443, targetPort: 'webhook-server' }] } });
    expect(manager(manifests).args).toContain('--webhook-service-name=steward-webhook-service');
  });

  test('follow another name of the release', async () => {
    const manifests = await renderedChart('steward', { fullnameOverride: 'cp' });
    expect(JSON.stringify(manifests)).not.toContain('steward-webhook-service');
    expect(manager(manifests, 'cp-controller-manager').args).toContain('--webhook-service-name=cp-webhook-service');
  });
});

describe('cluster stacks of the chart', () => {
  const on = { 'clusterStacks.enabled': true };

  test('are absent unless they are enabled', async () => {
    expect(JSON.stringify(await renderedChart('steward'))).not.toMatch(/clusterstack|cluster-stack/i);
  });

  test('have the permissions, bindings and webhooks of config/clusterstacks', async () => {
    const manifests = await renderedChart('steward', on);
    const written = ['role', 'bindings', 'webhooks'].flatMap((file) =>
      documents('config', 'clusterstacks', `${file}.yaml`),
    );
    for (const each of written) expect(found(manifests, each.kind, each.metadata.name)).toEqual(each);
    const more = await renderedChart('steward');
    expect(manifests).toHaveLength(more.length + written.length);
    const without = await renderedChart('steward', { ...on, 'rbac.create': false });
    expect(without.map(({ kind }) => kind)).not.toContain('ClusterRole');
  });

  test.each([
    [{}, 8],
    [{ 'clusterApi.enabled': false }, 7],
    [{ 'tenantControlPlanes.enabled': false }, 5],
  ])('with %j run their controllers too, %i in all', async (values, count) => {
    const [, ...flags] = manager(await renderedChart('steward', { ...on, ...values })).args;
    const { controllers, gates } = readManagerSettings(flags, pod);
    expect([controllers.size, gates.clusterStacks]).toEqual([count, true]);
    expect([...controllers]).toEqual(
      expect.arrayContaining(['clusteraddon', 'clusteraddon-cluster', 'clusterstack', 'clusterstackrelease']),
    );
  });

  test('keep releases in a volume of limited size, and use the given helm and the given further kinds', async () => {
    const manifests = await renderedChart('steward', {
      ...on,
      'clusterStacks.helm': '/opt/helm',
      'clusterStacks.furtherKinds': ['Image.openstack.k-orc.cloud', 'ConfigMap.'],
    });
    const { spec } = found<Workload>(manifests, 'Deployment', 'steward-controller-manager').spec.template;
    const [, ...flags] = manager(manifests).args;
    const { stacks } = readManagerSettings(flags, pod);
    expect([stacks.helm, ...stacks.kinds]).toEqual(['/opt/helm', 'Image.openstack.k-orc.cloud', 'ConfigMap.']);
    expect(spec).toMatchObject({
      containers: [{ volumeMounts: [{ mountPath: '/tmp' }, { name: 'cluster-stacks', mountPath: stacks.cache }] }],
      volumes: [{ name: 'tmp' }, { name: 'cluster-stacks', emptyDir: { sizeLimit: '2Gi' } }],
    });
  });

  // As with `helm upgrade --reuse-values` from a chart that did not know the layer: its values are not there.
  test.each(['steward', 'steward-crds'])('are absent if the values of %s do not have them', async (chart) => {
    expect(await renderedChart(chart, { clusterStacks: null })).toEqual(await renderedChart(chart));
  });

  test('have their defaults if the values only enable them', async () => {
    const known = { 'clusterStacks.helm': null, 'clusterStacks.furtherKinds': null, 'clusterStacks.cache': null };
    expect(await renderedChart('steward', { ...on, ...known })).toEqual(await renderedChart('steward', on));
  });

  test('run the image with helm unless another is named', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    const image = async (values: object) => manager(await renderedChart('steward', { ...on, ...values })).image;
    expect(await image({})).toBe(`ghcr.io/butlerdotdev/steward:v${version}-helm`);
    expect(await image({ 'image.tag': 'x' })).toBe('ghcr.io/butlerdotdev/steward:x');
  });
});

describe('the definitions of the chart', () => {
  test('are those of the kinds, and stay when the release is uninstalled', async () => {
    const manifests = await renderedChart('steward-crds', { 'clusterStacks.enabled': true });
    expect(manifests).toHaveLength(allKinds.length);
    for (const expected of allKinds.map(crd)) {
      const { spec, metadata } = found<Manifest & { spec: unknown }>(manifests, expected.kind, expected.metadata.name);
      expect(spec).toEqual((expected as Manifest & { spec: unknown }).spec);
      expect(metadata.labels).toMatchObject(expected.metadata.labels ?? {});
      expect(metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    }
  });

  test('leave the optional layer of cluster stacks out unless it is enabled', async () => {
    const manifests = await renderedChart('steward-crds');
    expect(manifests.map(({ metadata }) => metadata.name).filter((name) => name.endsWith(clusterStackGroup))).toEqual(
      [],
    );
    expect(manifests).toHaveLength(allKinds.length - 3);
  });

  test('can be deleted with the release, get labels, and leave Cluster API out', async () => {
    const values = { keep: false, 'clusterApi.enabled': false, labels: { 'clusterctl.cluster.x-k8s.io': '' } };
    const manifests = await renderedChart('steward-crds', values);
    const own = allKinds.filter(({ group }) => group === stewardGroup).map(crdName);
    expect(manifests.map(({ metadata }) => metadata.name).sort()).toEqual(own.sort());
    for (const { metadata } of manifests) {
      expect(metadata.labels).toMatchObject(values.labels);
      expect(metadata.annotations ?? {}).not.toHaveProperty(['helm.sh/resource-policy']);
    }
  });
});

describe('the quick-start etcd of the chart', () => {
  /** A manifest without what the chart adds by the defaults of its values. */
  const withoutDefaults = (manifest: Manifest): unknown =>
    JSON.parse(
      JSON.stringify(manifest, (key, value: unknown) => {
        if (['imagePullSecrets', 'nodeSelector', 'priorityClassName', 'storageClassName'].includes(key))
          return undefined;
        if (key !== 'args') return value;
        return (value as readonly string[]).filter((flag) => !/^--(cluster-domain|data-store)=/.test(flag));
      }),
    );

  test('is that of config/datastores/etcd', async () => {
    const manifests = await renderedChart('steward');
    for (const written of resourcesOf('datastores/etcd', 'data-store.yaml')) {
      // A Job cannot be changed: every revision of a release has its own.
      const name = written.kind === 'Job' ? 'etcd-bootstrap-1' : written.metadata.name;
      const expected = { ...written, metadata: { ...written.metadata, name } };
      expect(withoutDefaults(found(manifests, written.kind, name))).toEqual(expected);
    }
  });

  test('uses the given cluster domain', async () => {
    const manifests = await renderedChart('steward', { 'etcd.clusterDomain': 'k8s.example' });
    const written = documents('config', 'datastores', 'etcd', 'stateful-set.yaml')[0] as Workload;
    const { args } = container(found<Workload>(manifests, 'StatefulSet', 'etcd'));
    expect(args.map((flag) => flag.replace('k8s.example', 'cluster.local'))).toEqual(container(written).args);
    expect(JSON.stringify(manifests)).not.toContain('cluster.local');
  });

  test('has its DataStore created by the Job, not by the CronJob that only renews certificates', async () => {
    const manifests = await renderedChart('steward', { 'etcd.dataStoreName': 'first' });
    const job = found<Workload>(manifests, 'Job', 'etcd-bootstrap-1');
    const cronJob = found<Workload>(manifests, 'CronJob', 'etcd-certificates');
    expect(container(job).args).toContain('--data-store=first');
    expect(container(cronJob).args.join(' ')).not.toContain('--data-store');
    expect(found<WithRules>(manifests, 'ClusterRole', 'steward-etcd-bootstrap').rules).toContainEqual({
      apiGroups: ['steward.butlerlabs.dev'],
      resources: ['datastores'],
      resourceNames: ['first'],
      verbs: ['get', 'patch'],
    });
  });
});

describe('the values', () => {
  interface Schema {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly additionalProperties?: boolean;
  }
  const paths = (schema: Schema, prefix = ''): readonly string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      inner.properties === undefined ? [`${prefix}${name}`] : paths(inner, `${prefix}${name}.`),
    );

  test.each(['steward', 'steward-crds'])(
    'of %s are described one by one: values.yaml, the schema and the README agree',
    (chart) => {
      const read = (file: string): string => readFileSync(join(chartFolder(chart), file), 'utf8');
      const schema = JSON.parse(read('values.schema.json')) as Schema;
      const values = parse(read('values.yaml'), { version: '1.1' }) as Readonly<Record<string, unknown>>;
      const named = paths(schema);
      const valueAt = (path: string): unknown =>
        path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], values);
      for (const path of named) {
        expect(valueAt(path)).toBeDefined();
        expect(read('README.md')).toContain(`| \`${path}\` |`);
      }
      const described = ({ properties = {}, description = '', additionalProperties }: Schema, name = ''): void => {
        if (name !== '') expect(description.length).toBeGreaterThan(8);
        if (Object.keys(properties).length > 0) expect(additionalProperties).toBe(false);
        for (const [inner, value] of Object.entries(properties)) described(value, inner);
      };
      described(schema);
      // And the other way round: nothing in values.yaml that the schema would not know.
      const leaves = (value: object, known: Schema): void => {
        for (const [name, inner] of Object.entries(value)) {
          const entry = known.properties?.[name];
          expect(entry).toBeDefined();
          if (entry?.properties !== undefined) leaves(inner as object, entry);
        }
      };
      leaves(values, schema);
    },
  );

  test('every one is used by a template', () => {
    const schema = JSON.parse(readFileSync(join(chartFolder('steward'), 'values.schema.json'), 'utf8')) as Schema;
    const folder = join(chartFolder('steward'), 'templates');
    const templates = readdirSync(folder)
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('')
      // A group that the values of an older chart do not have is read in brackets.
      .replaceAll(/\((\.Values\.\w+)\)/g, '$1');
    const unused = paths(schema).filter(
      (path) => !new RegExp(`\\.Values\\.${path.replaceAll('.', '\\.')}\\b`).test(templates),
    );
    // One is read through `dig` and one through `index`; the others are those of the Go Steward that mean nothing anymore.
    const otherwise = ['clusterStacks.cache.sizeLimit', 'steward-etcd'];
    const ignored = ['nameOverride', 'temporaryDirectoryPath', 'telemetry', 'kubeconfigGenerator'];
    expect(unused).toEqual([...otherwise, ...ignored]);
  });
});
