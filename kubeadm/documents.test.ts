import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Manifest } from '../api/meta.ts';
import { bootstrapRbac } from './bootstrap-rbac.ts';
import { apiServerCertSANs, clusterConfiguration } from './cluster-configuration.ts';
import { clusterInfo } from './cluster-info.ts';
import { coreDns } from './coredns.ts';
import { coreDnsImage, kubeProxyImage } from './images.ts';
import { kubeProxy } from './kube-proxy.ts';
import { toYaml } from './to-yaml.ts';
import { newestMinor, oldestMinor } from './versions.ts';

const version = { major: 1, minor: 36, patch: 3 };
const inputs = {
  clusterName: 'tenant-00',
  version,
  controlPlaneEndpoint: '192.0.2.7:6443',
  serviceCidr: '10.96.0.0/16',
  podCidr: '10.244.0.0/16',
  clusterDomain: 'cluster.local',
  certSANs: ['localhost'],
  etcdEndpoints: ['127.0.0.1:2379'],
  encryptionAlgorithm: 'ECDSA-P256',
} as const;

const find = (manifests: readonly Manifest[], kind: string): Manifest => {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
};
interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly ports: readonly { readonly name: string }[];
}
const containerOf = (manifest: Manifest): Container =>
  (manifest as unknown as { spec: { template: { spec: { containers: [Container] } } } }).spec.template.spec
    .containers[0];
const imageOf = (manifest: Manifest): string => containerOf(manifest).image;

describe('toYaml', () => {
  test('writes strings that readers of YAML 1.1 and 1.2 both read as strings', () => {
    const tricky = fc.constantFrom(
      'on',
      'yes',
      'NO',
      'y',
      '1_000',
      '12:30:00',
      '0o7',
      '017',
      '1e3',
      '~',
      'null',
      '.inf',
      '=',
      '<<',
      '',
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), tricky), (text) => {
        const written = toYaml({ text });
        expect(parse(written, { version: '1.1' })).toEqual({ text });
        expect(parse(written, { version: '1.2' })).toEqual({ text });
      }),
    );
  });

  test('sorts keys, keeps lists flush and ends with one newline', () => {
    expect(toYaml({ b: [{ d: 1, c: 2 }], a: 'x' })).toBe('a: x\nb:\n- c: 2\n  d: 1\n');
  });
});

describe('clusterConfiguration', () => {
  test.each([
    [30, 'kubeadm.k8s.io/v1beta3'],
    [31, 'kubeadm.k8s.io/v1beta4'],
  ])('of 1.%i is written in the version that its kubeadm supports', (minor, apiVersion) => {
    expect(clusterConfiguration({ ...inputs, version: { ...version, minor } })).toMatchObject({ apiVersion });
  });

  test('gives etcd as URLs, which kubeadm requires', () => {
    const etcdEndpoints = ['etcd-0:2379', 'http://etcd-1:2379'];
    const { etcd } = clusterConfiguration({ ...inputs, etcdEndpoints });
    expect(etcd).toMatchObject({ external: { endpoints: ['https://etcd-0:2379', 'http://etcd-1:2379'] } });
  });

  test('contains no algorithm that its kubeadm does not support', () => {
    const algorithm = (minor: number): unknown =>
      clusterConfiguration({ ...inputs, version: { ...version, minor }, encryptionAlgorithm: 'ECDSA-P384' })
        .encryptionAlgorithm;
    expect(algorithm(33)).toBe('ECDSA-P256');
    expect(algorithm(34)).toBe('ECDSA-P384');
    expect(algorithm(30)).toBeUndefined();
  });
});

describe('apiServerCertSANs', () => {
  test('contains loopback, the Service, the address and the requested names, each once', () => {
    const names = apiServerCertSANs({
      name: 'tenant-00',
      namespace: 'team',
      advertiseAddress: '192.0.2.7',
      clusterDomain: 'k8s.example.org',
      certSANs: ['api.example.org', 'localhost'],
    });
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([
        '127.0.0.1',
        'tenant-00.team.svc',
        '192.0.2.7',
        'kubernetes.default.svc.k8s.example.org',
        'api.example.org',
      ]),
    );
  });
});

describe('clusterInfo', () => {
  test('contains only its own key, so that signatures beside it stay', () => {
    const manifest = clusterInfo({ server: 'https://192.0.2.7:6443', ca: 'PEM\n' });
    expect(Object.keys(manifest.data as object)).toEqual(['kubeconfig']);
  });
});

describe('Every manifest', () => {
  test('has the label of the project and no field that the server sets', () => {
    const dns = coreDns(inputs);
    const all = [...bootstrapRbac(), ...dns.managed, ...dns.createOnly, ...kubeProxy(inputs)];
    for (const { kind, metadata } of all) {
      expect({ kind, labels: metadata.labels }).toMatchObject({
        labels: { 'steward.butlerlabs.dev/project': 'steward' },
      });
      expect(metadata).not.toHaveProperty('resourceVersion');
    }
    const names = all.map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('coreDns', () => {
  test('uses each part of an image override alone', () => {
    expect(coreDnsImage(version)).toBe('registry.k8s.io/coredns/coredns:v1.14.2');
    expect(coreDnsImage(version, { imageTag: 'v9' })).toBe('registry.k8s.io/coredns/coredns:v9');
    expect(coreDnsImage(version, { imageRepository: 'example.org/x' })).toBe('example.org/x/coredns:v1.14.2');
    const { managed } = coreDns({ ...inputs, image: { imageTag: 'v9', imageRepository: 'example.org/x' } });
    expect(imageOf(find(managed, 'Deployment'))).toBe('example.org/x/coredns:v9');
  });

  test.each([33, 34])('of 1.%i names each port of its container', (minor) => {
    const { managed } = coreDns({ ...inputs, version: { ...version, minor } });
    const names = containerOf(find(managed, 'Deployment')).ports.map(({ name }) => name);
    const probed = minor >= 34 ? ['liveness-probe', 'readiness-probe'] : [];
    expect(names).toEqual(['dns', 'dns-tcp', 'metrics', ...probed]);
  });

  test('listens on the given DNS addresses, two of them with dual stack', () => {
    const service = (dnsServiceIPs: string[], serviceCidr: string = inputs.serviceCidr): unknown =>
      find(coreDns({ ...inputs, serviceCidr, dnsServiceIPs }).managed, 'Service').spec;
    expect(service([])).toMatchObject({ clusterIP: '10.96.0.10' });
    expect(service(['10.96.3.3'])).toMatchObject({ clusterIP: '10.96.3.3' });
    expect(service(['10.96.3.3', 'fd00::a'], '10.96.0.0/16,fd00::/112')).toMatchObject({
      clusterIPs: ['10.96.3.3', 'fd00::a'],
      ipFamilyPolicy: 'RequireDualStack',
    });
  });

  test('does not change the Corefile once it exists, because it belongs to the administrators', () => {
    const { managed, createOnly } = coreDns(inputs);
    expect(managed.map(({ kind }) => kind)).not.toContain('ConfigMap');
    expect(createOnly.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['ConfigMap coredns']);
  });

  test('has an image for every supported minor', () => {
    for (let minor = oldestMinor; minor <= newestMinor; minor += 1) {
      expect(coreDnsImage({ major: 1, minor, patch: 0 })).toMatch(/^registry\.k8s\.io\/coredns\/coredns:v1\.\d+\.\d+$/);
    }
  });
});

describe('kubeProxy', () => {
  test('starts with its own arguments first, and those that were added', () => {
    const commandOf = (pod?: { readonly extraArgs: readonly string[] }): readonly string[] => {
      return containerOf(find(kubeProxy({ ...inputs, ...(pod !== undefined && { pod }) }), 'DaemonSet')).command ?? [];
    };
    const own = commandOf();
    expect(own).toContain('--hostname-override=$(NODE_NAME)');
    expect(commandOf({ extraArgs: ['--v=4'] })).toEqual([...own, '--v=4']);
  });

  test('has the version of the tenant by default', () => {
    expect(imageOf(find(kubeProxy(inputs), 'DaemonSet'))).toBe('registry.k8s.io/kube-proxy:v1.36.3');
    expect(kubeProxyImage(version, { imageTag: 'v9' })).toBe('registry.k8s.io/kube-proxy:v9');
    expect(kubeProxyImage(version, { imageRepository: 'example.org' })).toBe('example.org/kube-proxy:v1.36.3');
  });

  test('contains the pod networks and reaches the API server by its endpoint', () => {
    const data = find(kubeProxy({ ...inputs, podCidr: 'fd00::/56,10.244.0.0/16' }), 'ConfigMap').data as Record<
      string,
      string
    >;
    expect(parse(data['config.conf'] ?? '')).toMatchObject({
      clusterCIDR: 'fd00::/56,10.244.0.0/16',
      bindAddress: '::',
    });
    expect(parse(data['kubeconfig.conf'] ?? '')).toMatchObject({
      clusters: [{ cluster: { server: 'https://192.0.2.7:6443' } }],
    });
    expect(() => kubeProxy({ ...inputs, podCidr: 'pods' })).toThrow('podCidr "pods" is not of the form address/prefix');
  });
});
