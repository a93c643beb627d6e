import { describe, expect, test } from '@jest/globals';
import type { DraftOf } from '../../../../api/meta.ts';
import { asStored, storedMeta } from '../../../../api/as-stored.ts';
import type { Deployment, Service } from '../../../../api/core/kinds.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { deployment } from '../../workload/deployment.ts';
import { networkPolicy } from '../../workload/network-policy.ts';
import { ownNamespaceOnly } from '../../endpoint/reach/reach.ts';
import { defaultNodePorts, service } from '../../endpoint/service.ts';
import type { Scope } from '../../scope.ts';
import { workerBootstrap } from './addon.ts';
import { nodeManifests } from './node-manifests.ts';
import { trustdLeaves } from './trustd-credentials.ts';
import { trustdPod } from './trustd-container.ts';
import { trustdAdvice, trustdEndpoint, trustdServer } from './trustd-endpoint.ts';

type AddonChanges = Parameters<typeof workerBootstrapAddon>[0];

const endpoint: Endpoint = { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 };
const byName: Endpoint = { ...endpoint, host: 'one.k8s.example.org', hostPort: 443 };
const { controlPlane } = tenantControlPlaneWith().spec;
const hostname = 'one.k8s.example.org';
const tenant = (
  addon: AddonChanges = {},
  changes: TenantControlPlaneChanges = {},
): ReturnType<typeof tenantControlPlaneWith> =>
  tenantControlPlaneWith({
    ...changes,
    spec: { dataStore: 'default', addons: { workerBootstrap: workerBootstrapAddon(addon) }, ...changes.spec },
  });

function pod(addon: AddonChanges = {}, changes: TenantControlPlaneChanges = {}) {
  const manifest = deployment({
    tcp: tenant(addon, changes),
    version: parseVersion('v1.36.3'),
    addons: [trustdPod(tenant(addon, changes)) ?? {}],
    endpoint,
    store: { kind: 'etcd', endpoints: ['https://a:2379'], prefix: '/tabc' },
    dataStoreName: 'default',
    kineImage: 'rancher/kine:v0.16.4',
    checksums: { ca: 'aa' },
    storageChecksum: 'cc',
  }) as Deployment;
  const spec = manifest.spec?.template.spec;
  const trustd = spec?.containers.at(-1);
  if (spec === undefined || trustd?.name !== 'steward-trustd') throw new Error('trustd is not the last container');
  return { spec, trustd };
}

describe('trustd', () => {
  test('has the image that its author names, with the tag if there is one', () => {
    expect(pod().trustd.image).toBe('ghcr.io/butlerdotdev/steward-trustd');
    expect(pod({ talos: { image: 'registry.example.org/trustd', imageTag: 'v1' } }).trustd.image).toBe(
      'registry.example.org/trustd:v1',
    );
  });

  test('listens at the port that the author sets, and is probed there', () => {
    const { trustd } = pod({ talos: { port: 50002 } });
    expect(trustd.ports).toEqual([{ name: 'grpc', containerPort: 50002, protocol: 'TCP' }]);
    expect(trustd.env?.slice(0, 3)).toEqual([
      { name: 'TRUSTD_PORT', value: '50002' },
      { name: 'TRUSTD_TENANT', value: 'tenant' },
      { name: 'TRUSTD_CERT_DIR', value: '/etc/steward-trustd/certs' },
    ]);
    expect(trustd.readinessProbe).toEqual({ tcpSocket: { port: 50002 }, initialDelaySeconds: 5, periodSeconds: 10 });
    expect(trustd.livenessProbe).toEqual({ tcpSocket: { port: 50002 }, initialDelaySeconds: 15, periodSeconds: 20 });
  });

  test('may take a low port, for which the pod needs no capability', () => {
    expect(pod().spec.securityContext).toBeUndefined();
    expect(pod({ talos: { port: 443 } }).spec.securityContext?.sysctls).toEqual([
      { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
    ]);
  });

  test('has its own resources, else those for every container, else small defaults', () => {
    const limits = { memory: '1Gi' };
    const shared = { deployment: { resources: { requests: { cpu: '5m' } } } };
    expect(pod({ talos: { resources: { limits } } }, shared).trustd.resources).toEqual({ limits });
    expect(pod({}, shared).trustd.resources).toEqual({ requests: { cpu: '5m' } });
    expect(pod().trustd.resources).toEqual({
      requests: { cpu: '10m', memory: '32Mi' },
      limits: { cpu: '100m', memory: '128Mi' },
    });
  });

  test('mounts its CA, its certificate and the token, and no other key of the control plane', () => {
    const { spec, trustd } = pod();
    expect(trustd.env?.[3]).toEqual({
      name: 'TRUSTD_TOKEN',
      valueFrom: { secretKeyRef: { name: 'tenant-trustd-creds', key: 'token' } },
    });
    expect(trustd.volumeMounts).toEqual([
      { name: 'trustd-creds', mountPath: '/etc/steward-trustd/certs', readOnly: true },
    ]);
    const volume = spec.volumes?.find(({ name }) => name === 'trustd-creds');
    expect(volume?.secret?.secretName).toBe('tenant-trustd-creds');
    expect(volume?.secret?.items?.map(({ key }) => key)).toEqual([
      'os-ca.crt',
      'os-ca.key',
      'server.crt',
      'server.key',
    ]);
    expect(trustd.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65534,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    const others = spec.containers.slice(0, -1).flatMap(({ volumeMounts = [] }) => volumeMounts);
    expect(others.some(({ name }) => name === 'trustd-creds')).toBe(false);
  });

  test('has a serving certificate for every address and name of the control plane, and for those that its author adds', () => {
    const balancer: Service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: storedMeta({ name: 'tenant' }),
      status: { loadBalancer: { ingress: [{ ip: '198.51.100.4' }, { hostname: 'lb.example.org' }] } },
    };
    const { server, admin } = trustdLeaves(
      tenant({ talos: { certSANs: ['203.0.113.5', 'talos.example.org'] } }),
      [byName],
      balancer,
    );
    expect(server).toEqual({
      commonName: 'steward-trustd',
      organizations: ['steward'],
      usages: ['serverAuth'],
      dnsNames: [hostname, 'lb.example.org', 'talos.example.org'],
      ipAddresses: ['192.0.2.7', '198.51.100.4', '203.0.113.5'],
    });
    expect(admin).toEqual({ commonName: 'tenant admin', organizations: ['steward'], usages: ['clientAuth'] });
  });
});

const serviceOf = (tcp: ReturnType<typeof tenant>): DraftOf<Service> =>
  service({
    tcp,
    current: undefined,
    nodePorts: defaultNodePorts,
    reach: ownNamespaceOnly,
    servers: [trustdServer],
  });

describe('the port for trustd', () => {
  const ports = (changes: TenantControlPlaneChanges, port = 50001): unknown => {
    const tcp = tenant({ talos: { port } }, changes);
    return serviceOf(tcp).spec?.ports?.at(-1);
  };

  test('comes after all others of the Service', () => {
    const additionalPorts = [{ name: 'extra', port: 9000, targetPort: 1, protocol: 'TCP' }] as const;
    expect(ports({ service: { additionalPorts } })).toEqual({
      name: 'steward-trustd',
      protocol: 'TCP',
      port: 50001,
      targetPort: 50001,
    });
  });

  test('is a node port where it can be one, else another is given', () => {
    const nodePort = { service: { serviceType: 'NodePort' } } as const;
    expect(ports(nodePort, 30501)).toMatchObject({ port: 30501, nodePort: 30501 });
    expect(ports(nodePort)).not.toHaveProperty('nodePort');
  });

  test('is open in the NetworkPolicy', () => {
    const tcp = tenant({ talos: { port: 50002 } });
    const [policy] = networkPolicy({
      tcp,
      port: 6443,
      service: asStored(serviceOf(tcp)),
      storePorts: [],
      management: { serviceAddresses: [], hosts: [] },
      isMonitored: false,
    });
    expect(JSON.stringify(policy)).toContain('"port":50002');
  });

  const live = { metadata: {}, spec: { ports: [{ name: 'steward-trustd', port: 50001, nodePort: 31001 }] } } as Service;
  test.each<[string, TenantControlPlaneChanges, Endpoint, string, string]>([
    ['a Service', {}, endpoint, '192.0.2.7:50001', ''],
    ['a node', { service: { serviceType: 'NodePort' } }, endpoint, '192.0.2.7:31001', ''],
    [
      'an Ingress',
      { spec: { controlPlane: { ...controlPlane, ingress: { hostname } } } },
      byName,
      '192.0.2.7:50001',
      'an Ingress does not route to trustd',
    ],
    [
      'Traefik',
      {
        spec: { controlPlane: { ...controlPlane, ingress: { hostname, controllerType: 'traefik' } } },
      },
      byName,
      `${hostname}:50001`,
      'without a host name',
    ],
    [
      'a Gateway',
      {
        spec: { controlPlane: { ...controlPlane, gateway: { hostname, parentRefs: [] } } },
      },
      byName,
      `${hostname}:50001`,
      'without a host name',
    ],
  ])('is found behind %s', (...[, changes, at, expected, advice]) => {
    const tcp = tenant({}, changes);
    const withAddon = { ...tcp, spec: { ...tcp.spec, addons: { workerBootstrap: workerBootstrapAddon() } } };
    expect(trustdEndpoint(withAddon, at, live)).toBe(expected);
    expect(trustdAdvice(withAddon)).toContain(advice);
  });

  test('is awaited while a NodePort Service has none for it yet, and nothing is published', () => {
    const bare: Service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: storedMeta({ name: 'tenant' }),
      spec: { ports: [{ name: 'steward-trustd', port: 50001 }] },
    };
    const tcp = tenant({}, { service: { serviceType: 'NodePort' } });
    const scope: Scope = {
      tcp: { ...tcp, spec: { ...tcp.spec, addons: { workerBootstrap: workerBootstrapAddon() } } },
      observed: {} as Scope['observed'],
      versions: {},
      addons: {},
      service: bare,
      target: endpoint,
      endpoint,
    };
    const { facts, then } = workerBootstrap.inside.wanted(scope);
    const message = 'Service tenant has no node port for trustd yet';
    expect(then).toEqual({ is: 'waiting', reason: 'NotExposed', message });
    expect(facts).toBeUndefined();
  });
});

describe('workers of Talos', () => {
  const brief = (autoApprove: boolean): readonly string[] =>
    nodeManifests(tenant({ autoApprove })).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const reading = [
    'ClusterRole steward:node-endpointslice-reader',
    'ClusterRoleBinding steward:node-endpointslice-reader',
  ];

  test('may look for their control plane in the tenant', () => {
    expect(brief(false)).toEqual(reading);
    expect(nodeManifests(tenantControlPlaneWith())).toEqual([]);
  });

  test('are bound to the approval of their certificates only where autoApprove is on', () => {
    expect(brief(true)).toEqual([...reading, 'ClusterRoleBinding kubeadm:node-autoapprove-kubelet-serving']);
    expect(brief(false)).toEqual(reading);
  });
});
