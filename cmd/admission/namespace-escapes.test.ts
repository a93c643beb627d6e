import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { access } from '../../controllers/tenantcontrolplane/access.ts';
import type { BoundarySettings } from '../../controllers/tenantcontrolplane/workload/boundaries.ts';
import { insideNamespace, namespaceEscapes } from '../../e2e/framework/attacks/namespace-escapes.ts';
import type { NamespaceEscape } from '../../e2e/framework/attacks/namespace-escapes.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { createAdmissions } from './admissions.ts';
import { readBoundaries } from '../flags/boundary-settings.ts';

const path = '/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane';
const usual = { 'default-pod-security-standard': 'baseline', 'allow-extra-args': '' };

interface Told {
  readonly labels?: Readonly<Record<string, string>>;
  readonly boundaries?: BoundarySettings;
}

function manifest({ deployment, spec }: Pick<NamespaceEscape, 'deployment' | 'spec'>): Draft {
  const given = {
    dataStore: 'default',
    controlPlane: { deployment: { replicas: 1, ...deployment }, service: { serviceType: 'ClusterIP' } },
    kubernetes: { version: `v1.${newestMinor}.0`, kubelet: {} },
    networkProfile: {},
    ...spec,
  };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name: 'tenant', namespace: 'default' },
    spec: applyDefaults(tenantControlPlane.spec.openapi, given),
  } as Draft;
}

async function answerTo(object: Draft, { labels, boundaries }: Told = {}): Promise<string> {
  const cluster = new FakeCluster({ access });
  const spec = { driver: 'etcd', endpoints: ['etcd:2379'] };
  const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
  await cluster.seed(dataStore, { apiVersion, kind: 'DataStore', metadata: { name: 'default' }, spec });
  const metadata = { name: 'default', labels };
  await cluster.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const handler = createAdmissions({ cluster, defaultDataStore: '', newestMinor, boundaries })[path];
  const kind = { group: 'steward.butlerlabs.dev', version: 'v1alpha1', kind: 'TenantControlPlane' };
  const request = { uid: '1', operation: 'CREATE', kind, namespace: 'default', name: 'tenant', object } as const;
  const answer = await handler?.(request, { signal: new AbortController().signal });
  if (answer === undefined) throw new Error(`nobody answers at ${path}`);
  return answer.allowed ? 'allowed' : answer.message;
}

const withFlag = (flag: string): BoundarySettings => {
  const [name = '', ...value] = flag.replace(/^--/, '').split('=');
  return readBoundaries({ ...usual, [name]: value.join('=') });
};

/** What an administrator says so that it is admitted. */
function leave({ opened }: NamespaceEscape): Told | undefined {
  if (opened === undefined) return undefined;
  if ('flag' in opened) return { boundaries: withFlag(opened.flag) };
  return { labels: { 'pod-security.kubernetes.io/enforce': opened.label } };
}

describe('A manifest that would reach beyond its namespace', () => {
  test.each(namespaceEscapes.map((escape) => [escape.name, escape] as const))(
    'is refused: %s',
    async (_name, escape) => {
      expect(await answerTo(manifest(escape))).toMatch(escape.expected);
    },
  );

  test.each(
    namespaceEscapes.flatMap((escape) => {
      const told = leave(escape);
      return told === undefined ? [] : [[escape.name, escape, told] as const];
    }),
  )('is admitted if a flag of the manager allows it: %s', async (_name, escape, told) => {
    expect(await answerTo(manifest(escape), told)).toBe('allowed');
  });

  test('is refused by the label of its namespace, whatever the default is', async () => {
    const boundaries = withFlag('--default-pod-security-standard=privileged');
    const extra = manifest({ deployment: { additionalContainers: [{ name: 'extra', image: 'x' }] } });
    expect(await answerTo(extra, { boundaries })).toBe('allowed');
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    expect(await answerTo(extra, { boundaries, labels })).toContain('the Pod Security Standard restricted forbids');
  });
});

test.each(insideNamespace.map((each) => [each.name, each] as const))(
  'A manifest with %s is admitted',
  async (_name, each) => {
    expect(await answerTo(manifest(each))).toBe('allowed');
  },
);
