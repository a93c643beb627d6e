import { describe, expect, test } from '@jest/globals';
import type { DraftOf } from '../../../../api/meta.ts';
import type { Deployment } from '../../../../api/core/kinds.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { StoreOverride } from '../../shared/control-plane-input.ts';
import { deployment } from '../../workload/deployment.ts';
import { overrideHealthExclusions } from './etcd-overrides.ts';

const events: StoreOverride = { resource: '/events', endpoints: ['https://e1:2379', 'https://e2:2379'] };
const leases: StoreOverride = { resource: 'coordination.k8s.io/leases', endpoints: ['https://l:2379'] };

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>;

function pod(overrides: readonly StoreOverride[]): PodSpec {
  const made: DraftOf<Deployment> = deployment({
    tcp: tenantControlPlaneWith(),
    version: parseVersion('v1.36.3'),
    endpoint: { address: '192.0.2.7', port: 6443, host: '192.0.2.7', hostPort: 6443 },
    store: { kind: 'etcd', endpoints: ['https://a:2379'], prefix: '/tabc' },
    overrides,
    dataStoreName: 'default',
    kineImage: '',
    checksums: {},
    storageChecksum: 'cc',
  });
  const spec = made.spec?.template.spec;
  if (spec === undefined) throw new Error('there is no pod');
  return spec;
}

const overridesFlag = (overrides: readonly StoreOverride[]): string | undefined =>
  pod(overrides).containers[0]?.args?.find((arg) => arg.startsWith('--etcd-servers-overrides'));

describe('kube-apiserver with single resources in other datastores', () => {
  test('gets each resource with its servers, in the same text whatever their order in the spec', () => {
    const flag =
      '--etcd-servers-overrides=/events#https://e1:2379;https://e2:2379,coordination.k8s.io/leases#https://l:2379';
    expect(overridesFlag([leases, events])).toBe(flag);
    expect(overridesFlag([events, leases])).toBe(flag);
    expect(overridesFlag([])).toBeUndefined();
  });

  test('gets the files that open all datastores in place of those of the first', () => {
    const files = (overrides: readonly StoreOverride[]): unknown =>
      pod(overrides)
        .volumes?.find(({ name }) => name === 'etc-kubernetes-pki')
        ?.projected?.sources?.find(({ secret }) => secret?.items?.some(({ path }) => path === 'etcd/ca.crt'))?.secret
        ?.name;
    expect(files([])).toBe('tenant-datastore-certificate');
    expect(files([events])).toBe('tenant-datastore-overrides-certificate');
    expect(JSON.stringify(pod([events]).volumes)).not.toContain('tenant-datastore-certificate');
  });

  test('does not restart for a datastore that is down, and continues to serve without its events', () => {
    const paths = (overrides: readonly StoreOverride[]): unknown => {
      const { startupProbe, livenessProbe, readinessProbe } = pod(overrides).containers[0] ?? {};
      return [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet?.path);
    };
    expect(paths([])).toEqual(['/livez?exclude=etcd', '/livez?exclude=etcd', '/readyz']);
    const live = '/livez?exclude=etcd&exclude=etcd-override-0&exclude=etcd-override-1';
    const ready = '/readyz?exclude=etcd-override-0&exclude=etcd-override-readiness-0';
    expect(paths([leases, events])).toEqual([live, live, ready]);
  });
});

describe('The etcd health checks that are left out', () => {
  test('are counted by sets of servers, whatever the order of the servers', () => {
    const swapped = { resource: '/pods', endpoints: ['https://e2:2379', 'https://e1:2379'] };
    expect(overrideHealthExclusions([swapped, leases])).toEqual({
      live: ['etcd-override-0', 'etcd-override-1'],
      ready: [],
    });
    expect(overrideHealthExclusions([events, swapped])).toEqual({ live: ['etcd-override-0'], ready: [] });
  });
});
