import { describe, expect, test } from '@jest/globals';
import type { Deployment } from '../../../../api/core/kinds.ts';
import type { TenantControlPlaneSpec } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { apiServerArguments } from '../../workload/api-server-arguments.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { proxyProfile } from './proxy-certificate.ts';
import { proxyManifests } from './proxy-manifests.ts';
import { proxyUpstream } from './proxy-upstream.ts';

type Proxy = NonNullable<TenantControlPlaneSpec['addons']['tcpProxy']>;

const endpoint: Endpoint = { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 };
const byName: Endpoint = { ...endpoint, host: 'one.k8s.example.org', hostPort: 443 };
const { controlPlane } = tenantControlPlaneWith().spec;
const hostname = 'one.k8s.example.org';
const behindIngress = {
  spec: { controlPlane: { ...controlPlane, ingress: { hostname } } },
} as TenantControlPlaneChanges;
const tls = { pair: { certificate: 'CERT', key: 'KEY' }, authority: 'CA' };

const tenant = (
  proxy: Proxy = {},
  changes: TenantControlPlaneChanges = {},
): ReturnType<typeof tenantControlPlaneWith> =>
  tenantControlPlaneWith({ ...changes, spec: { dataStore: 'default', addons: { tcpProxy: proxy }, ...changes.spec } });

function pod(proxy: Proxy = {}, at = endpoint, withTls = false) {
  const tcp = tenant(proxy);
  const manifests = proxyManifests({ tcp, upstream: proxyUpstream(tcp, at, false), tls: withTls ? tls : undefined });
  const deployment = manifests.find(({ kind }) => kind === 'Deployment') as Deployment | undefined;
  const spec = deployment?.spec?.template.spec;
  const container = spec?.containers[0];
  if (spec === undefined || container === undefined) throw new Error('there is no pod');
  return { manifests, template: deployment?.spec?.template, spec, container, deployment };
}

const env = (container: ReturnType<typeof pod>['container']): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));

describe('the proxy in a tenant', () => {
  test('has the image that its author names, else the default', () => {
    expect(pod().container.image).toBe('ghcr.io/butlerdotdev/steward-tcp-proxy:v0.2.0');
    expect(pod({ image: 'registry.example.org/proxy:v1' }).container.image).toBe('registry.example.org/proxy:v1');
  });

  test('has the resources that its author sets, else small defaults', () => {
    const limits = { memory: '1Gi' };
    expect(pod({ resources: { limits } }).container.resources).toEqual({ limits });
    expect(pod().container.resources).toEqual({
      requests: { cpu: '10m', memory: '32Mi' },
      limits: { cpu: '100m', memory: '64Mi' },
    });
  });

  test('has the host aliases that its author gives, and none once they are removed', () => {
    const hostAliases = [{ ip: '192.0.2.7', hostnames: [hostname] }];
    expect(pod({ hostAliases }).spec.hostAliases).toEqual(hostAliases);
    expect(pod().spec).not.toHaveProperty('hostAliases');
  });

  test('dials the endpoint and passes through what it gets: it has no certificate', () => {
    const { container, spec, manifests } = pod();
    expect(container.args).toEqual(['--upstream-addr=192.0.2.7:6443', '--listen-addr=:6443']);
    expect(env(container)).toMatchObject({ KUBERNETES_SERVICE_HOST: '192.0.2.7', KUBERNETES_SERVICE_PORT: '6443' });
    expect(spec.volumes).toBeUndefined();
    expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
  });

  test('dials the internal endpoint, where there is one, and passes through behind a router as well', () => {
    const tcp = tenant({ internalEndpoint: '192.0.2.8:7443' }, behindIngress);
    expect(proxyUpstream(tcp, byName, true)).toEqual({ host: '192.0.2.8', port: 7443, endsTls: false });
    expect(pod({ internalEndpoint: '192.0.2.8' }).container.args).toContain('--upstream-addr=192.0.2.8:6443');
  });

  test('terminates TLS behind a router, with its own certificate, and verifies the server that it dials', () => {
    const withAddon = tenant({}, behindIngress);
    expect(proxyUpstream(withAddon, byName, true)).toEqual({ host: hostname, port: 443, endsTls: true });
    const { container, spec, manifests, template } = pod({}, byName, true);
    expect(container.args).toEqual([
      `--upstream-addr=${hostname}:443`,
      '--listen-addr=:6443',
      '--tls-cert-file=/etc/tcp-proxy/tls/tls.crt',
      '--tls-key-file=/etc/tcp-proxy/tls/tls.key',
    ]);
    expect(env(container).SSL_CERT_FILE).toBe('/etc/tcp-proxy/tls/ca.crt');
    expect(spec.volumes?.[0]?.secret?.secretName).toBe('steward-tcp-proxy-tls');
    const secret = manifests.find(({ kind }) => kind === 'Secret') as { readonly data?: object } | undefined;
    expect(Object.keys(secret?.data ?? {})).toEqual(['tls.crt', 'tls.key', 'ca.crt']);
    expect(template?.metadata?.annotations).toEqual({
      'component.steward-tcp-proxy/tls': expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
    });
  });

  test('has a certificate for the Service kubernetes of its tenant, and for no other name', () => {
    const dual = tenant({}, { networkProfile: { serviceCidr: '10.96.0.0/16,fd00:10:96::/112' } });
    expect(proxyProfile(dual)).toEqual({
      commonName: 'steward-tcp-proxy',
      usages: ['serverAuth'],
      dnsNames: ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
      ipAddresses: ['10.96.0.1', 'fd00:10:96::1'],
    });
  });

  test('starts on the host network before all other pods, with two replicas that are replaced one by one', () => {
    const { spec, deployment, container } = pod();
    expect(spec).toMatchObject({
      hostNetwork: true,
      dnsPolicy: 'Default',
      priorityClassName: 'system-cluster-critical',
      serviceAccountName: 'steward-tcp-proxy',
    });
    expect(spec.tolerations?.map(({ key, effect = '' }) => `${key ?? ''}:${effect}`)).toEqual([
      'node.kubernetes.io/not-ready:NoSchedule',
      'node.kubernetes.io/not-ready:NoExecute',
      'node.cilium.io/agent-not-ready:',
    ]);
    expect(deployment?.spec).toMatchObject({
      replicas: 2,
      strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    });
    expect(container.securityContext).toMatchObject({ runAsNonRoot: true, readOnlyRootFilesystem: true });
  });

  test('keeps the endpoints of the Service kubernetes, which API servers leave alone with and without it', () => {
    const flags = (tcp: ReturnType<typeof tenant>): readonly string[] =>
      apiServerArguments({
        tcp,
        version: parseVersion('v1.36.3'),
        endpoint,
        store: { kind: 'etcd', endpoints: ['https://a:2379'], prefix: '/tabc' },
        dataStoreName: 'default',
        kineImage: 'x',
        checksums: {},
        storageChecksum: '',
      }).filter((flag) => flag.includes('reconciler'));
    expect(flags(tenant())).toEqual(['--endpoint-reconciler-type=none']);
    expect(flags(tenantControlPlaneWith())).toEqual(['--endpoint-reconciler-type=none']);
  });
});
