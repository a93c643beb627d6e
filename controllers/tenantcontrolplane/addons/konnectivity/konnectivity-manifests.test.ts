import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { storedMeta } from '../../../../api/as-stored.ts';
import { defaultAdmissionControllers } from '../../../../api/embedded/admission-controllers.ts';
import type { Deployment, Service } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../../kubeadm/versions.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import type { ControlPlaneInput, Endpoint } from '../../shared/control-plane-input.ts';
import { deployment } from '../../workload/deployment.ts';
import { ownNamespaceOnly } from '../../endpoint/reach/reach.ts';
import { defaultNodePorts, service } from '../../endpoint/service.ts';
import { agentAddress } from './agent-address.ts';
import type { AgentAddress } from './agent-address.ts';
import { konnectivityAgentManifests } from './agent-manifests.ts';
import { egressConfigMap } from './egress-selector.ts';
import { konnectivityImage } from './konnectivity-programs.ts';
import { konnectivityServer } from './konnectivity-server.ts';
import { konnectivityPod } from './server-container.ts';
import { konnectivityLeaves } from './server-leaves.ts';

const byAddress: Endpoint = { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 };
const byName: Endpoint = { ...byAddress, host: 'one.k8s.example.org', hostPort: 443 };
const { controlPlane } = tenantControlPlaneWith().spec;
const hostname = 'one.k8s.example.org';
const byIngress = { spec: { controlPlane: { ...controlPlane, ingress: { hostname } } } } as TenantControlPlaneChanges;
const byGateway: TenantControlPlaneChanges = {
  spec: { controlPlane: { ...controlPlane, gateway: { hostname, parentRefs: [] } } },
};
const at: AgentAddress = { host: '192.0.2.7', port: 8132, byName: false };
const version = parseVersion('v1.36.3');

type AddonChanges = Parameters<typeof konnectivityAddon>[0];

const withAddon = (addon: AddonChanges = {}, changes: TenantControlPlaneChanges = {}): TenantControlPlaneChanges => ({
  ...changes,
  spec: { dataStore: 'default', addons: { konnectivity: konnectivityAddon(addon) }, ...changes.spec },
});

const versionIn = ({ kubernetes }: TenantControlPlaneChanges): KubernetesVersion =>
  parseVersion(kubernetes?.version ?? 'v1.36.3');

const input = (changes: TenantControlPlaneChanges): ControlPlaneInput => ({
  tcp: tenantControlPlaneWith(changes),
  version: versionIn(changes),
  addons: [konnectivityPod(tenantControlPlaneWith(changes), versionIn(changes)) ?? {}],
  endpoint: byAddress,
  store: { kind: 'etcd', endpoints: ['https://a:2379'], prefix: '/tabc' },
  dataStoreName: 'default',
  kineImage: 'rancher/kine:v0.16.4',
  checksums: { ca: 'aa' },
  storageChecksum: 'cc',
});

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;
type Container = PodSpec['containers'][number];

function pod(changes: TenantControlPlaneChanges): PodSpec {
  const spec = (deployment(input(changes)) as Deployment).spec?.template.spec;
  if (spec === undefined) throw new Error('there is no pod');
  return spec;
}

function named(containers: readonly Container[] | undefined, name: string): Container {
  const found = containers?.find((container) => container.name === name);
  if (found === undefined) throw new Error(`there is no container ${name}`);
  return found;
}

const server = (addon: AddonChanges = {}, changes: TenantControlPlaneChanges = {}): Container =>
  named(pod(withAddon(addon, changes)).initContainers, 'konnectivity-server');

interface Workload extends Manifest {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: unknown;
    readonly template: { readonly metadata: unknown; readonly spec: PodSpec };
  };
}

function agents(addon: AddonChanges = {}, address: AgentAddress = at): Workload {
  const manifests = konnectivityAgentManifests(tenantControlPlaneWith(withAddon(addon)), { address, version });
  const found = manifests.find(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment');
  if (found === undefined) throw new Error('there are no agents');
  return found as Workload;
}

const agent = (addon: AddonChanges = {}, address: AgentAddress = at): Container =>
  named(agents(addon, address).spec.template.spec.containers, 'konnectivity-agent');

describe('kube-apiserver with a tunnel', () => {
  test('reads a configuration that sends calls to the cluster through the socket, and nothing else', () => {
    const { data } = egressConfigMap(tenantControlPlaneWith(withAddon())) as { data?: Record<string, string> };
    expect(parse(data?.['egress-selector-configuration.yaml'] ?? '')).toEqual({
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [
        {
          name: 'cluster',
          connection: {
            proxyProtocol: 'GRPC',
            transport: { uds: { udsName: '/run/konnectivity/konnectivity-server.socket' } },
          },
        },
      ],
    });
  });

  test('has the configuration and the socket at the paths that its flags and the configuration name', () => {
    const { args, volumeMounts } = named(pod(withAddon()).containers, 'kube-apiserver');
    expect(args).toContain(
      '--egress-selector-config-file=/etc/kubernetes/konnectivity/configurations/egress-selector-configuration.yaml',
    );
    expect(volumeMounts).toEqual(
      expect.arrayContaining([
        { name: 'konnectivity-uds', mountPath: '/run/konnectivity' },
        {
          name: 'egress-selector-configuration',
          mountPath: '/etc/kubernetes/konnectivity/configurations',
          readOnly: true,
        },
      ]),
    );
  });
});

describe('the konnectivity server', () => {
  test('has the flags that agents and kube-apiserver rely on, whatever the author sets', () => {
    const { args, command, ports } = server({ server: { port: 9132, extraArgs: ['--mode=http-connect', '--v=3'] } });
    expect(command).toEqual(['/proxy-server']);
    expect(args).toEqual([
      '--admin-port=8133',
      '--agent-namespace=kube-system',
      '--agent-port=9132',
      '--agent-service-account=konnectivity-agent',
      '--authentication-audience=system:konnectivity-server',
      '--cluster-cert=/etc/konnectivity/pki/tls.crt',
      '--cluster-key=/etc/konnectivity/pki/tls.key',
      '--health-port=8134',
      '--kubeconfig=/etc/kubernetes/konnectivity-server.conf',
      '--mode=grpc',
      '--server-count=2',
      '--server-port=0',
      '--uds-name=/run/konnectivity/konnectivity-server.socket',
      '--v=3',
    ]);
    expect(ports?.map(({ name, containerPort }) => [name, containerPort])).toEqual([
      ['agentport', 9132],
      ['adminport', 8133],
      ['healthport', 8134],
    ]);
  });

  test('outlives the API server of its pod, and does not wait for agents to be ready', () => {
    const { restartPolicy, livenessProbe, readinessProbe, startupProbe } = server();
    expect(restartPolicy).toBe('Always');
    expect(livenessProbe?.httpGet).toMatchObject({ path: '/healthz', port: 8134 });
    expect([readinessProbe, startupProbe]).toEqual([undefined, undefined]);
  });

  test('counts at least one server, so that scaling to zero changes no pod', () => {
    const args = (replicas: number): readonly string[] | undefined => server({}, { deployment: { replicas } }).args;
    expect(args(3)).toContain('--server-count=3');
    expect(args(0)).toEqual(args(1));
  });

  test('counts as many servers as an autoscaler may start, so that scaling replaces no pod', () => {
    const autoscaling = { minReplicas: 2, maxReplicas: 5, targetInFlightRequests: 100 };
    expect(server({}, { deployment: { autoscaling } }).args).toContain('--server-count=5');
  });

  test('mounts its own two Secrets and the socket, and no other key of the control plane', () => {
    const { initContainers, volumes } = pod(withAddon());
    const mounts = named(initContainers, 'konnectivity-server').volumeMounts?.map(({ name }) => name);
    expect(mounts).toEqual(['konnectivity-server-kubeconfig', 'konnectivity-server-certificate', 'konnectivity-uds']);
    const secrets = volumes?.filter(({ name }) => mounts?.includes(name)).map(({ secret }) => secret?.secretName);
    expect(secrets).toEqual([undefined, 'tenant-konnectivity-kubeconfig', 'tenant-konnectivity-certificate']);
    expect(named(initContainers, 'konnectivity-server').securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
    });
  });

  test('has the given security context for the fields that it sets, else the default', () => {
    expect(server({ server: { securityContext: { runAsUser: 7 } } }).securityContext).toMatchObject({
      runAsUser: 7,
      readOnlyRootFilesystem: true,
    });
  });

  test('has its own resources, else those for every container', () => {
    const requests = { cpu: '5m' };
    const deployment = { resources: { requests: { cpu: '50m' } } };
    expect(server({ server: { resources: { requests } } }, { deployment }).resources).toEqual({ requests });
    expect(server({}, { deployment }).resources).toEqual({ requests: { cpu: '50m' } });
    expect(server().resources).toBeUndefined();
  });

  test.each([
    [{}, 'v1.36.3', 'v0.36.0'],
    [{}, '1.29.0', 'v0.29.0'],
    [{ version: 'v0.34.1' }, 'v1.36.3', 'v0.34.1'],
    [{ version: '' }, 'v1.35.4', 'v0.35.0'],
  ])('of %j beside Kubernetes %s is %s', (changes, version, tag) => {
    const kubernetes = { version };
    expect(server({ server: changes }, { kubernetes }).image).toBe(
      `registry.k8s.io/kas-network-proxy/proxy-server:${tag}`,
    );
  });

  test('has the image that the author names', () => {
    expect(server({ server: { image: 'mine/server', version: 'x' } }).image).toBe('mine/server:x');
  });

  test('has a serving certificate for the host that agents dial, and a client certificate for kube-apiserver', () => {
    const leaves = (endpoint: Endpoint, changes: TenantControlPlaneChanges = {}) =>
      konnectivityLeaves(tenantControlPlaneWith(changes), endpoint);
    expect(leaves(byAddress)['konnectivity-server'].profile).toEqual({
      commonName: 'system:konnectivity-server',
      usages: ['serverAuth'],
      dnsNames: [],
      ipAddresses: ['192.0.2.7'],
    });
    const { dnsNames } = leaves(byName, byIngress)['konnectivity-server'].profile;
    expect(dnsNames).toEqual(['one.konnectivity.example.org']);
    expect(leaves(byName)['konnectivity-server'].profile.dnsNames).toEqual(['one.k8s.example.org']);
    expect(leaves(byName)['konnectivity-server.conf'].profile).toEqual({
      commonName: 'system:konnectivity-server',
      usages: ['clientAuth'],
    });
  });

  test('has its own port of the Service, which is also the node port if it is in that range', () => {
    const ports = (type: 'ClusterIP' | 'NodePort', port: number): unknown => {
      const changes = withAddon({ server: { port } }, { service: { serviceType: type } });
      const { spec } = service({
        tcp: tenantControlPlaneWith(changes),
        current: undefined,
        nodePorts: defaultNodePorts,
        reach: ownNamespaceOnly,
        servers: [konnectivityServer],
      }) as Service;
      return spec?.ports?.[1];
    };
    const made = { name: 'konnectivity-server', protocol: 'TCP', port: 8132, targetPort: 8132 };
    expect(ports('ClusterIP', 8132)).toEqual(made);
    expect(ports('NodePort', 8132)).toEqual(made);
    expect(ports('NodePort', 30132)).toEqual({ ...made, port: 30132, targetPort: 30132, nodePort: 30132 });
    expect(ports('ClusterIP', 30132)).toEqual({ ...made, port: 30132, targetPort: 30132 });
  });
});

describe('the address for agents', () => {
  const live = (nodePort?: number): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: storedMeta({ name: 'tenant' }),
    spec: {
      ports: [
        { name: 'kube-apiserver', port: 6443, nodePort: 31111 },
        { name: 'konnectivity-server', port: 8132, nodePort },
      ],
    },
  });
  const found = (changes: TenantControlPlaneChanges, endpoint: Endpoint, nodePort?: number): AgentAddress | undefined =>
    agentAddress(tenantControlPlaneWith(changes), { endpoint, service: live(nodePort), port: 8132 });

  test('is that of the control plane, at the port of the server', () => {
    expect(found({}, byAddress)).toEqual(at);
  });

  test('of a NodePort Service is the node port for agents, once there is one', () => {
    const changes: TenantControlPlaneChanges = { service: { serviceType: 'NodePort' } };
    expect(found(changes, byAddress, 32222)).toEqual({ ...at, port: 32222 });
    expect(found(changes, byAddress)).toBeUndefined();
  });

  test('behind a router is a name of its own: at the port of an Ingress, or of the Gateway’s listener', () => {
    const host = 'one.konnectivity.example.org';
    expect(found(byIngress, byName)).toEqual({ host, port: 443, byName: true });
    expect(found(byGateway, { ...byName, hostPort: 6443 })).toEqual({ host, port: 8132, byName: true });
    // Not published by it yet, or not anymore.
    expect(found(byIngress, byAddress)).toEqual(at);
  });

  test('behind a router is the host name that the author gives, which the certificate has', () => {
    const addons = { konnectivity: konnectivityAddon({ server: { hostname: 'agents.example.org' } }) };
    for (const { spec } of [byIngress, byGateway]) {
      const changes = { spec: { ...spec, addons } } as TenantControlPlaneChanges;
      expect(found(changes, byName)?.host).toBe('agents.example.org');
      const leaves = konnectivityLeaves(tenantControlPlaneWith(changes), byName);
      expect(leaves['konnectivity-server'].profile.dnsNames).toEqual(['agents.example.org']);
      expect(found(changes, byAddress)?.host).toBe('192.0.2.7');
    }
    expect(found({ spec: { dataStore: 'default', addons } }, byName)?.host).toBe('one.k8s.example.org');
  });

  test('is the host name of a load balancer that has no address', () => {
    expect(found({}, byName)).toEqual({ host: 'one.k8s.example.org', port: 8132, byName: true });
  });
});

describe('the agents', () => {
  test('send a token for the server alone, and verify the server by the CA of the tenant', () => {
    const { volumes, serviceAccountName } = agents().spec.template.spec;
    expect(volumes).toEqual([
      {
        name: 'konnectivity-agent-token',
        projected: {
          sources: [
            {
              serviceAccountToken: {
                audience: 'system:konnectivity-server',
                expirationSeconds: 3600,
                path: 'konnectivity-agent-token',
              },
            },
          ],
        },
      },
    ]);
    expect(serviceAccountName).toBe('konnectivity-agent');
    expect(agent().args).toEqual(
      expect.arrayContaining([
        '--ca-cert=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
        '--proxy-server-host=192.0.2.7',
        '--proxy-server-port=8132',
        '--service-account-token-path=/var/run/secrets/tokens/konnectivity-agent-token',
      ]),
    );
    expect(agent().volumeMounts?.[0]?.mountPath).toBe('/var/run/secrets/tokens');
  });

  test('have the flags that the author sets before those of Steward', () => {
    const { args } = agent({ agent: { extraArgs: ['--sync-interval=1s', '--v=8'] } });
    expect(args).toEqual(expect.arrayContaining(['--sync-interval=1s', '--sync-forever=true', '--v=8']));
    expect(args).not.toContain('--sync-interval=5s');
  });

  test('run as a DaemonSet, or as the given number of pods of a Deployment', () => {
    // Not a part of the default, which would pass for it.
    const tolerations = [{ key: 'own', operator: 'Exists' }] as const;
    expect(agents({ agent: { tolerations, replicas: 0 } })).toMatchObject({
      kind: 'DaemonSet',
      metadata: { name: 'konnectivity-agent', namespace: 'kube-system' },
      spec: {
        selector: { matchLabels: { 'k8s-app': 'konnectivity-agent' } },
        template: { spec: { tolerations, priorityClassName: 'system-cluster-critical' } },
      },
    });
    expect(agents({ agent: { replicas: 0 } }).spec.replicas).toBeUndefined();
    expect(agents({ agent: { mode: 'Deployment', replicas: 2 } })).toMatchObject({
      kind: 'Deployment',
      spec: { replicas: 2 },
    });
    expect(agents({ agent: { mode: 'Deployment' } }).spec.replicas).toBeUndefined();
  });

  test('use the network of their nodes on request, and its DNS if they dial a name', () => {
    const network = (addon: AddonChanges, address = at): unknown => {
      const { hostNetwork, dnsPolicy } = agents(addon, address).spec.template.spec;
      return [hostNetwork, dnsPolicy];
    };
    expect(network({})).toEqual([undefined, undefined]);
    expect(network({ agent: { hostNetwork: true } })).toEqual([true, 'ClusterFirstWithHostNet']);
    expect(network({}, { ...at, byName: true })).toEqual([true, 'Default']);
  });

  test('follow the minor of Kubernetes unless the author names a version', () => {
    expect(agent().image).toBe('registry.k8s.io/kas-network-proxy/proxy-agent:v0.36.0');
    expect(agent({ agent: { image: 'mine/agent', version: 'x' } }).image).toBe('mine/agent:x');
  });

  test('follow a minor that is newer than what is tested', () => {
    expect(konnectivityImage(parseVersion('v1.99.0'), { image: 'x' })).toBe('x:v0.99.0');
  });

  test('come with the permission of the server to review their tokens, and no other', () => {
    const binding = konnectivityAgentManifests(tenantControlPlaneWith(withAddon()), { address: at, version }).find(
      ({ kind }) => kind === 'ClusterRoleBinding',
    );
    expect(binding).toMatchObject({
      metadata: {
        name: 'system:konnectivity-server',
        labels: {
          'steward.butlerlabs.dev/project': 'steward',
          'kubernetes.io/cluster-service': 'true',
          'addonmanager.kubernetes.io/mode': 'Reconcile',
        },
      },
      roleRef: { kind: 'ClusterRole', name: 'system:auth-delegator' },
      subjects: [{ kind: 'User', name: 'system:konnectivity-server' }],
    });
  });
});

describe('a tenant without konnectivity', () => {
  // The default list of that time.
  const admissionControllers = defaultAdmissionControllers.filter((plugin) => plugin !== 'NodeRestriction');
  const plain: TenantControlPlaneChanges = { kubernetes: { admissionControllers } };
  const tcp = tenantControlPlaneWith(plain);

  test('has the manifests that it had before there was such an add-on: a change would replace its pods', () => {
    const first = deployment(input(plain)) as Deployment;
    const pod = first.spec?.template.spec;
    if (pod === undefined) throw new Error('there are no pods');
    // Pods from before the default spread keep what they have.
    delete pod.topologySpreadConstraints;
    const made = [
      deployment({ ...input(plain), present: first }),
      service({
        tcp,
        current: undefined,
        nodePorts: defaultNodePorts,
        reach: ownNamespaceOnly,
        servers: [konnectivityServer],
      }),
    ];
    expect(JSON.stringify(made)).not.toMatch(/konnectivity|egress/);
    expect(checksum({ deployment: JSON.stringify(made[0]) })).toBe('1f1fe49b08d1903e6d23d988067e9dd2');
    expect(konnectivityAgentManifests(tcp, { address: at, version })).toEqual([]);
  });
});
