import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { ObjectAddress, PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { parseManifests } from '../../e2e/cluster/kubernetes-client.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { crds as netns } from '../../e2e/infrastructure/kinds.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { definitionsOf } from '../builders/infrastructure/definitions.ts';
import { readNodeGroup } from '../builders/infrastructure/node-group.ts';
import { infrastructureProviders } from '../builders/infrastructure/providers.ts';
import type { ClusterApiCore } from '../servers/cluster-api-core.ts';
import { startClusterApiCore } from '../servers/cluster-api-core.ts';
import type { ServerFolder } from '../servers/server-folder.ts';
import { serverFolder } from '../servers/server-folder.ts';

const templates = join(import.meta.dirname, '../../templates');
const capi = 'cluster.x-k8s.io/v1beta2';
const release = 'v0.17.0';
/** Another pinned release of Cluster API than the newest. */
const clusterApi = process.env.CLUSTER_API;

/** What a user gives for a provider, and what has to come of it. */
interface Trial {
  readonly variables: Readonly<Record<string, string>>;
  /** The infrastructure cluster that core makes of the class. */
  readonly cluster: readonly [version: string, kind: string, expected: object];
  /** The template of the workers' machines that core makes of the class. */
  readonly machine: readonly [kind: string, expected: object];
}

const managed = { metadata: { annotations: { 'cluster.x-k8s.io/managed-by': 'steward' } } };
const worker = (spec: object): object => ({ spec: { template: { spec } } });

const trials: Readonly<Record<string, Trial>> = {
  netns: { variables: {}, cluster: ['v1alpha1', 'NetnsCluster', {}], machine: ['NetnsMachineTemplate', {}] },
  docker: {
    variables: {},
    cluster: ['v1beta2', 'DevCluster', { ...managed, spec: { backend: { docker: {} } } }],
    machine: ['DevMachineTemplate', worker({ backend: { docker: {} } })],
  },
  openstack: {
    variables: { OPENSTACK_DNS_NAMESERVER: '198.51.100.1', OPENSTACK_FLAVOR: 'm2', OPENSTACK_IMAGE: 'noble' },
    cluster: [
      'v1beta1',
      'OpenStackCluster',
      {
        spec: {
          apiServerLoadBalancer: { enabled: false },
          disableAPIServerFloatingIP: true,
          managedSubnets: [{ dnsNameservers: ['198.51.100.1'] }],
        },
      },
    ],
    machine: ['OpenStackMachineTemplate', worker({ flavor: 'm2', image: { filter: { name: 'noble' } } })],
  },
  kubevirt: {
    variables: { NODE_VM_IMAGE_TEMPLATE: 'registry.example.com/node:1', KUBEVIRT_CORES: '3' },
    cluster: ['v1alpha1', 'KubevirtCluster', managed],
    machine: [
      'KubevirtMachineTemplate',
      worker({
        virtualMachineTemplate: {
          spec: {
            template: {
              spec: {
                domain: { cpu: { cores: 3 } },
                volumes: [{ containerDisk: { image: 'registry.example.com/node:1' } }],
              },
            },
          },
        },
      }),
    ],
  },
  vsphere: {
    variables: {
      ...{ VSPHERE_SERVER: 'vc.example.com', VSPHERE_TLS_THUMBPRINT: 'AA:BB', VSPHERE_DATACENTER: 'dc' },
      ...{ VSPHERE_DATASTORE: 'ds', VSPHERE_NETWORK: 'net', VSPHERE_TEMPLATE: 'tpl' },
      ...{ VSPHERE_FOLDER: 'f', VSPHERE_RESOURCE_POOL: 'p' },
    },
    cluster: ['v1beta2', 'VSphereCluster', { spec: { server: 'vc.example.com', thumbprint: 'AA:BB' } }],
    machine: [
      'VSphereMachineTemplate',
      worker({ server: 'vc.example.com', datastore: 'ds', network: { devices: [{ networkName: 'net' }] } }),
    ],
  },
  aws: {
    variables: { AWS_REGION: 'eu-west-1', AWS_NODE_MACHINE_TYPE: 'm5.large' },
    cluster: [
      'v1beta2',
      'AWSCluster',
      { spec: { region: 'eu-west-1', controlPlaneLoadBalancer: { loadBalancerType: 'disabled' } } },
    ],
    machine: ['AWSMachineTemplate', worker({ instanceType: 'm5.large' })],
  },
  azure: {
    variables: {
      AZURE_LOCATION: 'northeurope',
      AZURE_SUBSCRIPTION_ID: 'sub',
      CONTROL_PLANE_ENDPOINT_IP: '203.0.113.9',
    },
    cluster: ['v1beta1', 'AzureCluster', { spec: { location: 'northeurope', subscriptionID: 'sub' } }],
    machine: ['AzureMachineTemplate', worker({ vmSize: 'Standard_D2s_v5' })],
  },
  proxmox: {
    variables: {
      ...{ PROXMOX_DNS_SERVER: '198.51.100.1', PROXMOX_NODE_RANGE: '198.51.100.20-198.51.100.30' },
      ...{ PROXMOX_GATEWAY: '198.51.100.1', PROXMOX_SOURCENODE: 'pve2', PROXMOX_TEMPLATE_VMID: '140' },
    },
    cluster: [
      'v1alpha2',
      'ProxmoxCluster',
      { spec: { externalManagedControlPlane: true, ipv4Config: { gateway: '198.51.100.1', prefix: 24 } } },
    ],
    machine: ['ProxmoxMachineTemplate', worker({ sourceNode: 'pve2', templateID: 140 })],
  },
  hetzner: {
    variables: { HCLOUD_REGION: 'hel1', HCLOUD_SSH_KEY: 'me', HCLOUD_IMAGE_NAME: 'noble' },
    cluster: [
      'v1beta1',
      'HetznerCluster',
      {
        spec: {
          controlPlaneLoadBalancer: { enabled: false },
          controlPlaneRegions: ['hel1'],
          sshKeys: { hcloud: [{ name: 'me' }] },
        },
      },
    ],
    machine: ['HCloudMachineTemplate', worker({ imageName: 'noble' })],
  },
  metal3: {
    variables: {
      ...{ CONTROL_PLANE_ENDPOINT_IP: '203.0.113.9', METAL3_IMAGE_URL: 'https://images.example.com/a.qcow2' },
      ...{ METAL3_IMAGE_CHECKSUM: 'abc' },
    },
    cluster: ['v1beta2', 'Metal3Cluster', { spec: { controlPlaneEndpoint: { host: '203.0.113.9', port: 6443 } } }],
    machine: ['Metal3MachineTemplate', worker({ image: { url: 'https://images.example.com/a.qcow2' } })],
  },
};

/** Providers with a template whose workers an autoscaler counts. */
const autoscaled = ['docker', 'netns'];

/** The part of a Cluster's topology that the test of autoscaling changes. */
interface Topology {
  readonly workers: {
    readonly machineDeployments: readonly {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
    }[];
  };
}

let core: ClusterApiCore;
let folder: ServerFolder;
let tools: { readonly clusterctl: string; readonly kubectl: string };

beforeAll(async () => {
  tools = await resolveTools(['clusterctl', 'kubectl'], { clusterApi });
  const definitions = infrastructureProviders.flatMap(definitionsOf) as unknown as readonly PlainObject[];
  [core, folder] = await Promise.all([startClusterApiCore([...netns, ...definitions], clusterApi), serverFolder()]);
  await writeRepository(folder.path);
}, 240_000);

afterAll(async () => {
  await core[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Names of the templates and classes; stacks are a folder of their own. */
const templateFiles = async (): Promise<readonly string[]> =>
  (await readdir(templates)).filter((name) => name.endsWith('.yaml'));

/** A local repository for each provider with our templates in it, as their own would have them. */
async function writeRepository(root: string): Promise<void> {
  const files = await templateFiles();
  const providers = await Promise.all(
    Object.keys(trials).map(async (name) => {
      const into = join(root, `infrastructure-${name}`, release);
      await mkdir(into, { recursive: true });
      for (const file of files) await writeFile(join(into, file), await readFile(join(templates, file)));
      return { name, type: 'InfrastructureProvider', url: `file://${join(into, 'infrastructure-components.yaml')}` };
    }),
  );
  await writeFile(join(root, 'clusterctl.yaml'), stringify({ providers }));
}

async function clusterctl(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = {
    ...{ PATH: '/usr/bin:/bin', HOME: folder.path, XDG_CONFIG_HOME: folder.path, KUBECONFIG: '/nowhere' },
    ...{ CLUSTERCTL_DISABLE_VERSIONCHECK: 'true', GOPROXY: 'off', DATASTORE: 'gold', SERVICE_TYPE: 'NodePort' },
    ...variables,
  };
  const config = join(folder.path, 'clusterctl.yaml');
  return (await runCommand(tools.clusterctl, ['--config', config, ...args], { env })).stdout;
}

/** Generates a Cluster of a flavor in a namespace of its own. */
const generate = (
  flavor: string,
  provider: string,
  variables: Readonly<Record<string, string>>,
  cluster = 'demo',
): Promise<string> =>
  clusterctl(
    [
      ...['generate', 'cluster', cluster, '--infrastructure', `${provider}:${release}`, '--flavor', flavor],
      ...['--kubernetes-version', 'v1.36.3', '--control-plane-machine-count', '3', '--worker-machine-count', '2'],
      ...['--target-namespace', provider],
    ],
    variables,
  );

/** What the API server says to manifests when it may not drop a field that it does not know. */
async function tryStrictly(manifests: string): Promise<void> {
  const file = join(folder.path, 'tried.yaml');
  await writeFile(file, manifests);
  const options = ['--server-side', '--dry-run=server', '--validate=strict', '--force-conflicts', '-f', file];
  await runCommand(tools.kubectl, ['--kubeconfig', core.kubeconfigPath, 'apply', ...options]);
}

const ofDemo = async (version: string, kind: string, namespace: string): Promise<PlainObject | undefined> => {
  const selector = 'cluster.x-k8s.io/cluster-name=demo';
  return (await core.client.list(version, kind, namespace, selector))[0];
};

describe.each(Object.entries(trials))('The templates of %s', (name, trial) => {
  beforeAll(async () => {
    await core.client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
  });

  test('are processed by clusterctl without a class, and every field is known to the API server', async () => {
    const manifests = await generate(name, name, trial.variables);
    expect(manifests).not.toContain('${');
    await tryStrictly(manifests);
    const found = parseManifests(manifests);
    expect(found.map(({ kind }) => kind)).toContain('StewardControlPlane');
    expect(found.find(({ kind }) => kind === 'StewardControlPlane')?.spec).toMatchObject({
      ...{ version: 'v1.36.3', replicas: 3, dataStoreName: 'gold', network: { serviceType: 'NodePort' } },
    });
    expect(found.find(({ kind }) => kind === trial.cluster[1])).toMatchObject({
      apiVersion: `infrastructure.cluster.x-k8s.io/${trial.cluster[0]}`,
    });
  });

  test('have a class that requires no variable of clusterctl, and every field is known to the API server', async () => {
    const file = join(templates, `clusterclass-steward-${name}.yaml`);
    const generated = await clusterctl(['generate', 'yaml', '--from', file]);
    expect(await readFile(file, 'utf8')).not.toContain('${');
    expect(parseManifests(generated)).toEqual(parseManifests(await readFile(file, 'utf8')));
    await tryStrictly(inNamespace(generated, name));
  });

  test('let Cluster API create the control plane, the infrastructure and the workers from the class', async () => {
    const manifests = await generate(`${name}-topology`, name, trial.variables);
    await tryStrictly(manifests);
    const objects = parseManifests(manifests);
    const isCluster = ({ kind }: PlainObject): boolean => kind === 'Cluster';
    await core.client.apply(objects.filter((object) => !isCluster(object)));
    const at = { namespace: name, apiVersion: capi };
    await core.client.waitFor({ ...at, kind: 'ClusterClass', name: `steward-${name}` }, 'VariablesReady');
    await core.client.apply(objects.filter(isCluster));
    await core.client.waitFor({ ...at, kind: 'Cluster', name: 'demo' }, 'TopologyReconciled');

    const controlPlane = await ofDemo('controlplane.cluster.x-k8s.io/v1alpha2', 'StewardControlPlane', name);
    expect(controlPlane?.metadata?.name).toMatch(/^demo-cp-/);
    expect(controlPlane?.spec).toMatchObject({
      ...{ version: 'v1.36.3', replicas: 3, dataStoreName: 'gold' },
      network: {
        serviceType: 'NodePort',
        ...('CONTROL_PLANE_ENDPOINT_IP' in trial.variables && { serviceAddress: '203.0.113.9' }),
      },
      addons: { coreDNS: {}, kubeProxy: {} },
    });
    const [version, kind, expected] = trial.cluster;
    const infrastructure = `infrastructure.cluster.x-k8s.io/${version}`;
    expect(await ofDemo(infrastructure, kind, name)).toMatchObject(expected);
    expect(await ofDemo(infrastructure, trial.machine[0], name)).toMatchObject(trial.machine[1]);
    expect((await ofDemo(capi, 'MachineDeployment', name))?.spec).toMatchObject({ replicas: 2 });
    expect(await ofDemo(capi, 'MachineHealthCheck', name)).toBeDefined();
    expect(await ofDemo('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfigTemplate', name)).toBeDefined();
  }, 120_000);
});

test('Azure’s Cluster of a class has its endpoint from the start, because its provider creates one itself', async () => {
  const cluster = await core.client.read({ apiVersion: capi, kind: 'Cluster', namespace: 'azure', name: 'demo' });
  expect(cluster?.spec?.controlPlaneEndpoint).toEqual({ host: '203.0.113.9', port: 6443 });
  const found = await ofDemo('controlplane.cluster.x-k8s.io/v1alpha2', 'StewardControlPlane', 'azure');
  expect(found?.metadata?.annotations).toHaveProperty(['steward.butlerlabs.dev/skip-infrastructure']);
});

test('A value that the class does not allow is refused by the schema of its variable', async () => {
  const manifests = await generate('netns-topology', 'netns', { SERVICE_TYPE: 'ExternalName' });
  await expect(core.client.apply(manifests.split('---').at(-1) ?? '', 0)).rejects.toThrow(/serviceType.*ExternalName/);
});

describe.each(autoscaled)('The workers of an autoscaled Cluster on %s', (name) => {
  const minimum = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size';
  const maximum = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size';
  const pool = async (): Promise<PlainObject> => {
    const found = await core.client.list(capi, 'MachineDeployment', name, 'cluster.x-k8s.io/cluster-name=elastic');
    return found[0] ?? {};
  };
  const address = async (): Promise<ObjectAddress> => {
    const { metadata } = await pool();
    return { apiVersion: capi, kind: 'MachineDeployment', namespace: name, name: metadata?.name ?? '' };
  };

  beforeAll(async () => {
    const manifests = await generate(`${name}-autoscaled`, name, { WORKER_MACHINE_MAX: '7' }, 'elastic');
    await tryStrictly(manifests);
    await core.client.apply(manifests);
    const cluster = { apiVersion: capi, kind: 'Cluster', namespace: name, name: 'elastic' };
    await core.client.waitFor(cluster, 'TopologyReconciled');
  }, 120_000);

  test('begin at the least number of the node group, which is none', async () => {
    expect((await pool()).spec).toMatchObject({ replicas: 0 });
  });

  test('have what the autoscaler reads of a node group and, while it has no node, of the node that it would get', async () => {
    const group = readNodeGroup((await pool()).metadata?.annotations ?? {});
    expect(group).toEqual({ minimum: 0, maximum: 7, capacity: { cpu: 2, memory: 4 * 1024 ** 3, pods: 110 } });
  });

  test('are counted by the autoscaler alone: the class leaves the number that it sets', async () => {
    await core.client.merge(await address(), { spec: { replicas: 3 } }, 'scale');
    // A change of the topology has core reconcile all that it owns.
    const cluster = { apiVersion: capi, kind: 'Cluster', namespace: name, name: 'elastic' };
    const object = await core.client.read(cluster);
    const { topology } = (object?.spec ?? {}) as { topology: Topology };
    const [group] = topology.workers.machineDeployments;
    const annotations = { ...group?.metadata?.annotations, [maximum]: '9' };
    const machineDeployments = [{ ...group, metadata: { annotations } }];
    await core.client.merge(cluster, { spec: { topology: { workers: { machineDeployments } } } });
    await core.client.waitFor(await address(), (found) => found?.metadata?.annotations?.[maximum] === '9');
    expect((await pool()).spec).toMatchObject({ replicas: 3 });
    expect((await pool()).metadata?.annotations).toMatchObject({ [minimum]: '0' });
  });
});

test('every provider with templates is tested here', async () => {
  const files = await templateFiles();
  const names = Object.keys(trials).flatMap((name) => [
    ...[`clusterclass-steward-${name}.yaml`, `cluster-template-${name}.yaml`, `cluster-template-${name}-topology.yaml`],
  ]);
  const elastic = autoscaled.map((name) => `cluster-template-${name}-autoscaled.yaml`);
  expect([...files].sort()).toEqual([...names, ...elastic].sort());
});

function inNamespace(manifests: string, namespace: string): string {
  const objects = parseManifests(manifests).map((object) => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  }));
  return objects.map((object) => stringify(object)).join('---\n');
}
