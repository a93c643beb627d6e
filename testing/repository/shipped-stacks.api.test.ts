import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { unpackArchive } from '../../clusterstacks/cmd/stack/archive.ts';
import { runStack } from '../../clusterstacks/cmd/stack/run-stack.ts';
import type { ObjectAddress, PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { parseManifests } from '../../e2e/cluster/kubernetes-client.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { definitionsOf } from '../builders/infrastructure/definitions.ts';
import { infrastructureProviders } from '../builders/infrastructure/providers.ts';
import type { ClusterApiCore } from '../servers/cluster-api-core.ts';
import { startClusterApiCore } from '../servers/cluster-api-core.ts';
import type { ServerFolder } from '../servers/server-folder.ts';
import { serverFolder } from '../servers/server-folder.ts';
import { copyShippedStack, shippedStacks } from '../worlds/stacks/shipped-stack.ts';

const capi = 'cluster.x-k8s.io/v1beta2';
const controlPlanes = 'controlplane.cluster.x-k8s.io/v1alpha2';
/** The minors that there are releases for, and the versions of Kubernetes in them. */
const [older, newer] = [
  { minor: '1.35', kubernetes: 'v1.35.4' },
  { minor: '1.36', kubernetes: 'v1.36.3' },
] as const;

/** A stack that we ship, and what Cluster API has to make of a Cluster of its class. */
interface Trial {
  readonly provider: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly controlPlane: object;
  readonly cluster: readonly [apiVersion: string, kind: string, expected: object];
  readonly machine: readonly [kind: string, expected: object];
  /** What its workers run of the newer version, where that shows in their template. */
  readonly upgradedMachine: object;
  /** Charts that the add-ons depend on, of the older and of the newer minor. */
  readonly charts: Readonly<Record<string, readonly [string, string]>>;
}

const oidcConfig = { issuerURL: 'https://login.example.com', clientID: 'kubernetes' };

const trials: readonly Trial[] = [
  {
    provider: 'docker',
    variables: {
      dataStoreName: 'gold',
      serviceType: 'NodePort',
      serviceAddress: '203.0.113.9',
      certSANs: ['api.example.com'],
      dnsServiceIPs: ['10.112.0.53'],
      imageRepository: 'registry.example.com/k8s',
      oidcConfig,
      customImage: 'kindest/node:v1.35.4',
      addons: { cni: 'none' },
      ciliumValues: { hubble: { enabled: false } },
    },
    controlPlane: {
      dataStoreName: 'gold',
      registry: 'registry.example.com/k8s',
      network: {
        serviceType: 'NodePort',
        serviceAddress: '203.0.113.9',
        certSANs: ['api.example.com'],
        dnsServiceIPs: ['10.112.0.53'],
      },
      apiServer: {
        extraArgs: [
          '--oidc-client-id=kubernetes',
          '--oidc-groups-claim=groups',
          '--oidc-issuer-url=https://login.example.com',
          '--oidc-username-claim=sub',
        ],
      },
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
    },
    cluster: ['infrastructure.cluster.x-k8s.io/v1beta2', 'DevCluster', { spec: { backend: { docker: {} } } }],
    machine: [
      'DevMachineTemplate',
      { spec: { template: { spec: { backend: { docker: { customImage: 'kindest/node:v1.35.4' } } } } } },
    ],
    upgradedMachine: {},
    charts: { cilium: ['1.20.2', '1.20.2'], 'metrics-server': ['3.13.0', '3.13.1'] },
  },
  {
    provider: 'openstack',
    variables: {
      workerFlavor: 'm2',
      imageName: 'ubuntu-noble-kube',
      identityRef: { name: 'mine', cloudName: 'blue' },
      dnsNameservers: ['198.51.100.1'],
    },
    controlPlane: {
      dataStoreName: 'default',
      network: { serviceType: 'LoadBalancer' },
      addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
    },
    cluster: [
      'infrastructure.cluster.x-k8s.io/v1beta1',
      'OpenStackCluster',
      {
        spec: {
          identityRef: { name: 'mine', cloudName: 'blue' },
          managedSubnets: [{ cidr: '10.6.0.0/24', dnsNameservers: ['198.51.100.1'] }],
          apiServerLoadBalancer: { enabled: false },
        },
      },
    ],
    machine: [
      'OpenStackMachineTemplate',
      { spec: { template: { spec: { flavor: 'm2', image: { filter: { name: 'ubuntu-noble-kube-v1.35.4' } } } } } },
    ],
    upgradedMachine: { spec: { template: { spec: { image: { filter: { name: 'ubuntu-noble-kube-v1.36.3' } } } } } },
    charts: {
      cilium: ['1.20.2', '1.20.2'],
      'metrics-server': ['3.13.0', '3.13.1'],
      'openstack-cloud-controller-manager': ['2.35.0', '2.36.0'],
    },
  },
];

let core: ClusterApiCore;
let folder: ServerFolder;
let helm: string;
let kubectl: string;

beforeAll(async () => {
  ({ helm, kubectl } = await resolveTools(['helm', 'kubectl']));
  const definitions = infrastructureProviders.flatMap(definitionsOf) as unknown as readonly PlainObject[];
  [core, folder] = await Promise.all([startClusterApiCore(definitions), serverFolder()]);
}, 240_000);

afterAll(async () => {
  await core[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** What `steward stack` prints, and its exit code. */
async function steward(...args: readonly string[]): Promise<{ readonly code: number; readonly printed: string }> {
  const lines: string[] = [];
  const code = await runStack(args, {
    environment: { PATH: '/usr/bin:/bin' },
    print: (line) => {
      lines.push(line);
    },
    now: () => new Date(),
    signal: new AbortController().signal,
    open: () => {
      throw new Error('no registry is read');
    },
  });
  return { code, printed: lines.join('\n') };
}

/** The objects of the class in a release, as the operator renders it. */
async function rendered(release: string, provider: string): Promise<readonly PlainObject[]> {
  const [, stack = '', version = ''] = /^(.*)-(v\d+)$/.exec(release) ?? [];
  const chart = join(folder.path, 'releases', release, `${stack}-cluster-class-${version}.tgz`);
  const args = ['template', stack, chart, '--namespace', provider];
  const { stdout } = await runCommand(helm, args, { env: { PATH: '/usr/bin:/bin', HOME: folder.path } });
  return parseManifests(stdout).map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace: provider },
  }));
}

/** Dependencies of the add-ons in a release: the chart of each stage, and the archives beside it. */
async function addonsOf(release: string): Promise<Readonly<Record<string, string>>> {
  const [, stack = '', version = ''] = /^(.*)-(v\d+)$/.exec(release) ?? [];
  const file = `${stack}-cluster-addon-${version}.tgz`;
  const files = await unpackArchive(await readFile(join(folder.path, 'releases', release, file)), file);
  const charts = [...files].filter(([path]) => /^[^/]+\/Chart\.yaml$/.test(path));
  const named = charts.flatMap(([path, bytes]) => {
    const { dependencies } = parse(bytes.toString('utf8')) as {
      readonly dependencies: readonly { readonly name: string; readonly version: string }[];
    };
    return dependencies.map(({ name, version: wanted }) => {
      const vendored = [...files.keys()].filter((one) => one.startsWith(path.replace('Chart.yaml', `charts/${name}-`)));
      expect(vendored).toEqual([path.replace('Chart.yaml', `charts/${name}-${wanted}.tgz`)]);
      return [name, wanted] as const;
    });
  });
  return Object.fromEntries(named);
}

const ofDemo = async (version: string, kind: string, namespace: string): Promise<PlainObject | undefined> =>
  (await core.client.list(version, kind, namespace, 'cluster.x-k8s.io/cluster-name=demo'))[0];

describe.each(trials)('The stack steward of $provider', (trial) => {
  const { provider, variables, controlPlane, cluster, machine, upgradedMachine, charts } = trial;
  const releases = [older, newer].map(({ minor }) => `${provider}-steward-${minor.replace('.', '-')}-v1`);
  const [from = '', to = ''] = releases;
  const demo: ObjectAddress = { apiVersion: capi, kind: 'Cluster', namespace: provider, name: 'demo' };

  test('is built for both minors, and lint finds nothing', async () => {
    const source = await copyShippedStack(trial, join(folder.path, provider));
    for (const [index, { minor, kubernetes }] of [older, newer].entries()) {
      expect(await steward('lint', source, `--kubernetes=${minor}`, `--helm=${helm}`)).toEqual({
        code: 0,
        printed: `${source}: no findings`,
      });
      const built = await steward(
        'build',
        source,
        `--kubernetes=${minor}`,
        `--output=${join(folder.path, 'releases')}`,
      );
      expect(built).toEqual({
        code: 0,
        printed: expect.stringContaining(`${releases[index] ?? ''}: Kubernetes ${kubernetes}, stack v1, add-ons v1`),
      });
    }
  });

  test('has other add-ons for the newer minor, each with its own chart and no other', async () => {
    for (const [index, release] of releases.entries()) {
      expect(await addonsOf(release)).toEqual(
        Object.fromEntries(Object.entries(charts).map(([name, versions]) => [name, versions[index]])),
      );
    }
  });

  test('has classes whose fields are all known to the API server', async () => {
    await core.client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: provider } }]);
    for (const release of releases) {
      const objects = await rendered(release, provider);
      const file = join(folder.path, 'tried.yaml');
      await writeFile(file, objects.map((object) => stringify(object)).join('---\n'));
      const options = ['--server-side', '--validate=strict', '-f', file];
      await runCommand(kubectl, ['--kubeconfig', core.kubeconfigPath, 'apply', ...options]);
      const names = objects.filter(({ kind }) => kind === 'ClusterClass').map(({ metadata }) => metadata?.name);
      expect(names).toEqual([release]);
    }
  });

  test('creates the control plane, the infrastructure and the workers of a Cluster, with the values of its variables', async () => {
    for (const name of releases) {
      await core.client.waitFor({ ...demo, kind: 'ClusterClass', name }, 'VariablesReady');
    }
    const topology = {
      classRef: { name: from },
      version: older.kubernetes,
      controlPlane: { replicas: 2 },
      workers: { machineDeployments: [{ class: 'default', name: 'md-0', replicas: 0 }] },
      variables: Object.entries(variables).map(([variable, value]) => ({ name: variable, value })),
    };
    const metadata = { name: 'demo', namespace: provider };
    await core.client.apply([{ apiVersion: capi, kind: 'Cluster', metadata, spec: { topology } }]);
    await core.client.waitFor(demo, 'TopologyReconciled');
    const made = await ofDemo(controlPlanes, 'StewardControlPlane', provider);
    expect(made?.spec).toMatchObject({ version: older.kubernetes, replicas: 2, ...controlPlane });
    expect(await ofDemo(cluster[0], cluster[1], provider)).toMatchObject(cluster[2]);
    expect(await ofDemo(cluster[0], machine[0], provider)).toMatchObject(machine[1]);
  }, 120_000);

  test('upgrades a Cluster from the class of one minor to that of the next, which keeps its objects', async () => {
    const before = await ofDemo(controlPlanes, 'StewardControlPlane', provider);
    const infrastructure = await ofDemo(cluster[0], cluster[1], provider);
    const own: ObjectAddress = {
      ...{ apiVersion: controlPlanes, kind: 'StewardControlPlane', namespace: provider },
      name: before?.metadata?.name ?? '',
    };
    /** What the controller of the control plane, which does not run here, says when all pods have a version. */
    const serves = (version: string): Promise<void> => {
      const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2, upToDateReplicas: 2 };
      const status = { version, ...counts, initialization: { controlPlaneInitialized: true } };
      return core.client.merge(own, { status }, 'status');
    };
    await serves(older.kubernetes);
    // Here the webhook of core checks whether the one class may replace the other.
    const topology = { classRef: { name: to }, version: newer.kubernetes };
    await core.client.merge(demo, { spec: { topology } });
    const isNew = (object: PlainObject | undefined): boolean => object?.spec?.version === newer.kubernetes;
    const after = await core.client.waitFor(own, isNew, { timeoutMs: 60_000, what: 'the newer version' });
    await serves(newer.kubernetes);
    const [machines] = await core.client.list(capi, 'MachineDeployment', provider);
    expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
    expect(after?.spec).toMatchObject(controlPlane);
    expect((await ofDemo(cluster[0], cluster[1], provider))?.metadata?.uid).toBe(infrastructure?.metadata?.uid);
    const workers = await core.client.waitFor(
      { apiVersion: capi, kind: 'MachineDeployment', namespace: provider, name: machines?.metadata?.name ?? '' },
      (object) => workersOf(object).version === newer.kubernetes,
      { timeoutMs: 60_000, what: 'workers of the newer version' },
    );
    const { name } = workersOf(workers).infrastructureRef;
    expect(
      await core.client.read({ apiVersion: cluster[0], kind: machine[0], namespace: provider, name }),
    ).toMatchObject(upgradedMachine);
  }, 180_000);
});

/** What a MachineDeployment says of its machines. */
function workersOf(object: PlainObject | undefined) {
  const { spec } = object?.spec?.template as {
    readonly spec: { readonly version: string; readonly infrastructureRef: { readonly name: string } };
  };
  return spec;
}

test('every shipped stack is tested here', async () => {
  expect((await readdir(shippedStacks)).toSorted()).toEqual(trials.map(({ provider }) => provider).toSorted());
});
