import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { kinds } from '../../../api/core/kinds.ts';
import type { ConfigMap, Service } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseCidr } from '../../../kubeadm/networks.ts';
import type { Reach } from '../endpoint/reach/reach.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';

// What each field of a TenantControlPlane changes in what is made of it, from the controller to the last object; the
// fields of spec.controlPlane.deployment are in workload/deployment-fields.test.ts.

async function running(changes: TenantControlPlaneChanges, reach?: Reach): Promise<TenantWorld> {
  const world = new TenantWorld({ reach });
  await world.create(changes);
  await world.settle();
  return world;
}

const networkProfile = (
  given: Partial<TenantControlPlane['spec']['networkProfile']>,
  reach?: Reach,
): Promise<TenantWorld> =>
  running({ networkProfile: given, spec: { dataStore: 'default', addons: { coreDNS: {}, kubeProxy: {} } } }, reach);

async function flags(world: TenantWorld, container = 'kube-apiserver'): Promise<readonly string[]> {
  const pods = (await world.deployment())?.spec?.template.spec?.containers ?? [];
  return pods.find(({ name }) => name === container)?.args ?? [];
}

const service = (world: TenantWorld): Promise<Service | undefined> =>
  world.cluster.admin.get(kinds.Service, { namespace: 'default', name: 'tenant' });

const inKubeSystem = (world: TenantWorld, name: string): Promise<ConfigMap | undefined> =>
  world.tenant.admin.get(kinds.ConfigMap, { namespace: 'kube-system', name });

/** The document in a ConfigMap of kubeadm's. */
async function document(world: TenantWorld, name: string, key: string): Promise<Record<string, unknown>> {
  return parse((await inKubeSystem(world, name))?.data?.[key] ?? '') as Record<string, unknown>;
}

const kubelet = (world: TenantWorld): Promise<Record<string, unknown>> => document(world, 'kubelet-config', 'kubelet');
const clusterDocument = (world: TenantWorld): Promise<Record<string, unknown>> =>
  document(world, 'kubeadm-config', 'ClusterConfiguration');

async function certificate(world: TenantWorld, suffix: string, key: string): Promise<X509Certificate> {
  return new X509Certificate(Buffer.from((await world.secret(suffix))?.data?.[key] ?? '', 'base64'));
}

async function images(world: TenantWorld, kind: 'Deployment' | 'DaemonSet', name: string): Promise<unknown> {
  const found =
    kind === 'Deployment'
      ? await world.tenant.admin.get(kinds.Deployment, { namespace: 'kube-system', name })
      : await world.tenant.admin.get(kinds.DaemonSet, { namespace: 'kube-system', name });
  return found?.spec?.template.spec?.containers.map(({ image }) => image);
}

describe('spec.controlPlane.service', () => {
  test('additionalMetadata is set on the Service, and labels of Steward are not overridden', async () => {
    const additionalMetadata = {
      labels: { team: 'a', 'steward.butlerlabs.dev/name': 'other' },
      annotations: { note: 'b' },
    };
    const found = await service(await running({ service: { additionalMetadata } }));
    expect(found?.metadata.labels).toMatchObject({ team: 'a', 'steward.butlerlabs.dev/name': 'tenant' });
    expect(found?.metadata.annotations).toMatchObject({ note: 'b' });
  });

  test('traffic policies, IP families and node ports of a load balancer go to the Service as they are', async () => {
    const given = {
      allocateLoadBalancerNodePorts: false,
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Cluster',
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
    } as const;
    const found = await service(await running({ service: { serviceType: 'LoadBalancer', ...given } }));
    expect(found?.spec).toMatchObject(given);
  });

  test('additionalPorts are ports of the Service, after the one of the API server', async () => {
    const extra = { name: 'dns', protocol: 'UDP', appProtocol: 'x/y', port: 5353, targetPort: 'dns' } as const;
    const found = await service(await running({ service: { additionalPorts: [extra] } }));
    expect(found?.spec?.ports?.map(({ name }) => name)).toEqual(['kube-apiserver', 'dns']);
    expect(found?.spec?.ports?.[1]).toMatchObject(extra);
  });

  test.each(['ClusterIP', 'NodePort', 'LoadBalancer'] as const)('serviceType %s is the type', async (serviceType) => {
    expect((await service(await running({ service: { serviceType } })))?.spec?.type).toBe(serviceType);
  });
});

describe('spec.kubernetes', () => {
  test('version is that of the images and of the kubeadm documents', async () => {
    const world = await running({ kubernetes: { version: '1.35.4' } });
    expect((await world.deployment())?.spec?.template.spec?.containers[0]?.image).toMatch(/kube-apiserver:v1\.35\.4$/);
    expect((await clusterDocument(world)).kubernetesVersion).toBe('v1.35.4');
  });

  test('kubelet.configurationJSONPatches change the configuration of joining kubelets, in their order', async () => {
    const configurationJSONPatches = [
      { op: 'replace', path: '/maxPods', value: 50 },
      { op: 'copy', from: '/maxPods', path: '/podsPerCore' },
    ] as const;
    const world = await running({
      kubernetes: { kubelet: { preferredAddressTypes: ['InternalIP'], configurationJSONPatches } },
    });
    expect(await kubelet(world)).toMatchObject({ maxPods: 50, podsPerCore: 50 });
  });

  test('kubelet.preferredAddressTypes determine how the API server reaches kubelets', async () => {
    const world = await running({ kubernetes: { kubelet: { preferredAddressTypes: ['Hostname', 'InternalIP'] } } });
    expect(await flags(world)).toContain('--kubelet-preferred-address-types=Hostname,InternalIP');
  });

  test('kubelet.cgroupfs is the cgroup driver of joining kubelets', async () => {
    const world = await running({
      kubernetes: { kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' } },
    });
    expect((await kubelet(world)).cgroupDriver).toBe('cgroupfs');
  });

  test.each([
    ['a list', ['LimitRanger', 'ResourceQuota']],
    ['one string', 'LimitRanger, ResourceQuota'],
  ])('admissionControllers as %s are the plugins of the API server', async (_form, given) => {
    const world = await running({ kubernetes: { admissionControllers: given as never } });
    expect(await flags(world)).toContain('--enable-admission-plugins=LimitRanger,ResourceQuota');
  });

  test.each([
    ['ECDSA-P256', 'ec'],
    ['RSA-2048', 'rsa'],
  ] as const)('encryptionAlgorithm %s is that of every key', async (encryptionAlgorithm, type) => {
    const world = await running({ kubernetes: { encryptionAlgorithm } });
    for (const [suffix, key] of [
      ['ca', 'ca.crt'],
      ['api-server-certificate', 'apiserver.crt'],
    ] as const) {
      expect((await certificate(world, suffix, key)).publicKey.asymmetricKeyType).toBe(type);
    }
  });

  test('eventTTL and requestLimits are flags of the API server', async () => {
    const requestLimits = { inFlight: 800, mutatingInFlight: 300 };
    const args = await flags(await running({ kubernetes: { eventTTL: '2h', requestLimits } }));
    expect(args).toContain('--event-ttl=2h');
    expect(args).toContain('--max-requests-inflight=800');
    expect(args).toContain('--max-mutating-requests-inflight=300');
    const defaults = await flags(await running({}));
    expect(defaults.filter((flag) => /event-ttl|inflight/.test(flag))).toEqual([]);
  });

  test('serviceAccountIssuer.url is in new tokens, and tokens of formerURLs and of the cluster domain stay valid', async () => {
    const serviceAccountIssuer = { url: 'https://tokens.example/a/', formerURLs: ['https://before.example'] };
    const world = await running({ kubernetes: { serviceAccountIssuer } });
    const args = await flags(world);
    expect(args.filter((flag) => flag.startsWith('--service-account-issuer='))).toEqual([
      '--service-account-issuer=https://tokens.example/a/',
      '--service-account-issuer=https://before.example',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    ]);
    expect(args).toContain('--service-account-jwks-uri=https://tokens.example/a/openid/v1/jwks');
  });

  test('serviceAccountIssuer.publicDiscovery lets everyone read the document until it is turned off', async () => {
    const issuer = (publicDiscovery: boolean) => ({
      serviceAccountIssuer: { url: 'https://tokens.example', publicDiscovery },
    });
    const world = await running({ kubernetes: issuer(true) });
    const binding = (): Promise<Resource | undefined> =>
      world.tenant.admin.get(kinds.ClusterRoleBinding, { name: 'steward:public-issuer-discovery' });
    expect(await binding()).toMatchObject({
      roleRef: { name: 'system:service-account-issuer-discovery' },
      subjects: [{ kind: 'Group', name: 'system:unauthenticated' }],
    });
    await world.change({ spec: { kubernetes: issuer(false) } });
    await world.settle();
    expect(await binding()).toBeUndefined();
  });
});

describe('spec.networkProfile', () => {
  test('loadBalancerClass and loadBalancerSourceRanges are those of the Service', async () => {
    const given = { loadBalancerClass: 'a/b', loadBalancerSourceRanges: ['10.0.0.0/8'] };
    const world = await running({ service: { serviceType: 'LoadBalancer' }, networkProfile: given });
    expect((await service(world))?.spec).toMatchObject(given);
  });

  test('address is the endpoint, in the status, the certificate and the advertised address', async () => {
    const world = await networkProfile({ address: '192.0.2.33' });
    expect((await world.read()).status?.controlPlaneEndpoint).toBe('192.0.2.33:6443');
    expect((await certificate(world, 'api-server-certificate', 'apiserver.crt')).subjectAltName).toContain(
      '192.0.2.33',
    );
    expect(await flags(world)).toContain('--advertise-address=192.0.2.33');
  });

  test('advertiseAddress is the endpoint in place of address, and the certificate covers both', async () => {
    const world = await networkProfile({ address: '192.0.2.33', advertiseAddress: '198.51.100.9' });
    expect((await world.read()).status?.controlPlaneEndpoint).toBe('198.51.100.9:6443');
    const { subjectAltName } = await certificate(world, 'api-server-certificate', 'apiserver.crt');
    expect(subjectAltName).toContain('198.51.100.9');
    expect(subjectAltName).toContain('192.0.2.33');
    expect(await flags(world)).toContain('--advertise-address=198.51.100.9');
  });

  test('allowAddressAsExternalIP adds the address to the Service', async () => {
    const given = { address: '192.0.2.33', allowAddressAsExternalIP: true };
    const reach = { externalIps: [parseCidr('192.0.2.0/24', 'test')], annotations: [] };
    expect((await service(await networkProfile(given, reach)))?.spec?.externalIPs).toEqual(['192.0.2.33']);
  });

  test('clusterDomain is that of kubelets, certificates and tokens', async () => {
    const world = await networkProfile({ clusterDomain: 'corp.example' });
    expect((await kubelet(world)).clusterDomain).toBe('corp.example');
    expect((await certificate(world, 'api-server-certificate', 'apiserver.crt')).subjectAltName).toContain(
      'kubernetes.default.svc.corp.example',
    );
    expect(await flags(world)).toContain('--service-account-issuer=https://kubernetes.default.svc.corp.example');
  });

  test('port is that of the Service, the API server and the endpoint', async () => {
    const world = await networkProfile({ port: 7443 });
    expect((await service(world))?.spec?.ports?.[0]).toMatchObject({ port: 7443, targetPort: 7443 });
    expect(await flags(world)).toContain('--secure-port=7443');
    expect((await world.read()).status?.controlPlaneEndpoint).toMatch(/:7443$/);
  });

  test('certSANs are in the certificate of the API server', async () => {
    const world = await networkProfile({ certSANs: ['api.example.org', '203.0.113.5'] });
    const names = (await certificate(world, 'api-server-certificate', 'apiserver.crt')).subjectAltName;
    for (const name of ['DNS:api.example.org', 'IP Address:203.0.113.5']) expect(names).toContain(name);
  });

  test('serviceCidr is the network of Services everywhere', async () => {
    const world = await networkProfile({ serviceCidr: '172.20.0.0/16' });
    for (const container of ['kube-apiserver', 'kube-controller-manager']) {
      expect(await flags(world, container)).toContain('--service-cluster-ip-range=172.20.0.0/16');
    }
    expect((await clusterDocument(world)).networking).toMatchObject({ serviceSubnet: '172.20.0.0/16' });
  });

  test('podCidr is the network of pods everywhere', async () => {
    const world = await networkProfile({ podCidr: '172.30.0.0/16' });
    expect(await flags(world, 'kube-controller-manager')).toContain('--cluster-cidr=172.30.0.0/16');
    expect((await clusterDocument(world)).networking).toMatchObject({ podSubnet: '172.30.0.0/16' });
    expect((await document(world, 'kube-proxy', 'config.conf')).clusterCIDR).toBe('172.30.0.0/16');
  });

  test('serviceCidrs are the networks of Services everywhere, and take precedence', async () => {
    const world = await networkProfile({
      serviceCidr: '10.9.0.0/16',
      serviceCidrs: ['172.20.0.0/16', 'fd00:20::/108'],
    });
    for (const container of ['kube-apiserver', 'kube-controller-manager']) {
      expect(await flags(world, container)).toContain('--service-cluster-ip-range=172.20.0.0/16,fd00:20::/108');
    }
    expect((await clusterDocument(world)).networking).toMatchObject({ serviceSubnet: '172.20.0.0/16,fd00:20::/108' });
    expect((await kubelet(world)).clusterDNS).toEqual(['172.20.0.10']);
  });

  test('podCidrs are the networks of pods everywhere, and take precedence', async () => {
    const world = await networkProfile({ podCidr: '10.9.0.0/16', podCidrs: ['172.30.0.0/16', 'fd00:30::/56'] });
    const both = '172.30.0.0/16,fd00:30::/56';
    expect(await flags(world, 'kube-controller-manager')).toContain(`--cluster-cidr=${both}`);
    expect((await clusterDocument(world)).networking).toMatchObject({ podSubnet: both });
    expect((await document(world, 'kube-proxy', 'config.conf')).clusterCIDR).toBe(both);
  });

  test('dnsServiceIPs are the addresses of CoreDNS and of the kubelets’ configuration', async () => {
    const world = await networkProfile({ dnsServiceIPs: ['10.96.0.53'] });
    expect((await kubelet(world)).clusterDNS).toEqual(['10.96.0.53']);
    const dns = await world.tenant.admin.get(kinds.Service, { namespace: 'kube-system', name: 'kube-dns' });
    expect(dns?.spec?.clusterIP).toBe('10.96.0.53');
  });
});

describe('spec.addons', () => {
  test('coreDNS and kubeProxy have the configured image, each part on its own', async () => {
    const addons = {
      coreDNS: { imageRepository: 'registry.example/dns' },
      kubeProxy: { imageTag: 'v9' },
    };
    const first = await running({ spec: { dataStore: 'default', addons } });
    expect(await images(first, 'Deployment', 'coredns')).toEqual([
      expect.stringMatching(/^registry\.example\/dns\/coredns:v1\./),
    ]);
    expect(await images(first, 'DaemonSet', 'kube-proxy')).toEqual(['registry.k8s.io/kube-proxy:v9']);
    const others = {
      coreDNS: { imageTag: 'v9' },
      kubeProxy: { imageRepository: 'registry.example/proxy' },
    };
    const second = await running({ spec: { dataStore: 'default', addons: others } });
    expect(await images(second, 'Deployment', 'coredns')).toEqual(['registry.k8s.io/coredns/coredns:v9']);
    expect(await images(second, 'DaemonSet', 'kube-proxy')).toEqual(['registry.example/proxy/kube-proxy:v1.36.3']);
  });

  test.each([
    ['coreDNS', 'coredns'],
    ['kubeProxy', 'kube-proxy'],
  ] as const)('%s has the configured resources, flags and tolerations', async (field, name) => {
    const resources = { limits: { memory: '300Mi' } };
    const tolerations = [{ key: 'dedicated', operator: 'Exists' }];
    const addons = { [field]: { resources, tolerations, extraArgs: ['--a=b'] } };
    const world = await running({ spec: { dataStore: 'default', addons } });
    const key = { namespace: 'kube-system', name };
    const { admin } = world.tenant;
    const found = await (field === 'coreDNS' ? admin.get(kinds.Deployment, key) : admin.get(kinds.DaemonSet, key));
    const pod = found?.spec?.template.spec;
    const [container] = pod?.containers ?? [];
    expect(pod?.tolerations).toEqual(tolerations);
    expect(container?.resources).toEqual(resources);
    expect((container?.args ?? container?.command)?.at(-1)).toBe('--a=b');
  });
});

describe('spec.dataStore and its fields', () => {
  test('dataStore is where the data is', async () => {
    const world = new TenantWorld();
    const other = await world.addStoreBeside('other');
    await world.create({ spec: { dataStore: 'other' } });
    await world.settle();
    expect((await world.read()).status?.storage?.dataStoreName).toBe('other');
    expect([world.store.tenancies.size, other.tenancies.size]).toEqual([0, 1]);
  });

  test('dataStoreSchema and dataStoreUsername are the names in the datastore', async () => {
    const given = { dataStoreSchema: 'my_schema', dataStoreUsername: 'my_user' };
    const world = await running({ spec: { dataStore: 'default', ...given } });
    const { setup } = (await world.read()).status?.storage ?? {};
    expect(setup).toMatchObject({ schema: 'my_schema', user: 'my_user' });
    expect(await flags(world)).toContain('--etcd-prefix=/my_schema');
  });
});

describe('spec.writePermissions', () => {
  test.each([
    ['blockCreation', 'CREATE'],
    ['blockUpdate', 'UPDATE'],
    ['blockDeletion', 'DELETE'],
  ])('%s denies %s inside the tenant', async (field, operation) => {
    const world = await running({ spec: { dataStore: 'default', writePermissions: { [field]: true } } });
    const policy = await world.tenant.admin.get(kinds.ValidatingAdmissionPolicy, { name: 'steward-write-permissions' });
    const rules = policy?.spec?.matchConstraints?.resourceRules ?? [];
    expect(rules.map(({ operations }) => operations)).toEqual([[operation]]);
  });
});
