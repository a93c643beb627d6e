import { describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlaneTemplate } from '../../api/controlplane/steward-control-plane-template.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { access } from '../../controllers/stewardcontrolplane/access.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import type { AdmissionRequest } from '../../runtime/admission/admission.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { createAdmissions } from './admissions.ts';

const group = stewardControlPlane.group;
const bare = { kubelet: {}, network: { serviceType: 'ClusterIP' } };
const metadata = { name: 'a', namespace: 'default' };
const apiVersion = `${group}/v1alpha2`;

type Kind = 'StewardControlPlane' | 'StewardControlPlaneTemplate';

function made(kind: Kind, spec: object): Draft {
  if (kind === 'StewardControlPlaneTemplate') {
    return { apiVersion, kind, metadata, spec: { template: { spec: { ...bare, ...spec } } } } as Draft;
  }
  return { apiVersion, kind, metadata, spec: { version: 'v1.35.4', replicas: 1, ...bare, ...spec } } as Draft;
}

async function answerTo(
  kind: Kind,
  spec: object,
  { old, label }: { old?: object; label?: string } = {},
): Promise<string> {
  const cluster = new FakeCluster({ access });
  const labels = label === undefined ? {} : { labels: { 'pod-security.kubernetes.io/enforce': label } };
  await cluster.seed(kinds.Namespace, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default', ...labels },
  });
  const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor });
  const request: AdmissionRequest = {
    uid: '1',
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    kind: { group, version: stewardControlPlaneTemplate.version, kind },
    namespace: 'default',
    object: made(kind, spec),
    ...(old !== undefined && { oldObject: made(kind, old) }),
  };
  const handler = admissions[`/validate-controlplane-cluster-x-k8s-io-${kind.toLowerCase()}`];
  const answer = await handler?.(request, { signal: new AbortController().signal });
  return answer?.allowed === false ? answer.message : 'allowed';
}

const privileged = {
  deployment: { extraContainers: [{ name: 'extra', image: 'x', securityContext: { privileged: true } }] },
};
const hostPath = { deployment: { extraVolumes: [{ name: 'root', hostPath: { path: '/' } }] } };
const flag = { apiServer: { extraArgs: ['--etcd-prefix=/'] } };

describe.each<[Kind, string]>([
  ['StewardControlPlane', 'spec.'],
  ['StewardControlPlaneTemplate', 'spec.template.spec.'],
])('A %s', (kind, at) => {
  test.each([
    [
      'a privileged container',
      privileged,
      'controlPlane.deployment.additionalContainers[0].securityContext.privileged',
    ],
    ['a folder of the node', hostPath, 'controlPlane.deployment.additionalVolumes[0].hostPath.path'],
    ['the store of others', flag, 'controlPlane.deployment.extraArgs.apiServer[0]'],
  ])('is refused with %s, like its TenantControlPlane', async (_what, spec, field) => {
    expect(await answerTo(kind, spec)).toContain(`${at}${field} of the TenantControlPlane`);
  });

  test('is admitted if the namespace permits it', async () => {
    expect(await answerTo(kind, privileged, { label: 'privileged' })).toBe('allowed');
  });
});

describe('A stored control plane', () => {
  test('can be changed in other fields', async () => {
    const stored = { ...privileged, ...flag };
    expect(await answerTo('StewardControlPlane', { ...stored, replicas: 3 }, { old: stored })).toBe('allowed');
    const more = { ...stored, deployment: { ...privileged.deployment, ...hostPath.deployment } };
    expect(await answerTo('StewardControlPlane', more, { old: stored })).toContain('hostPath.path');
  });

  test('is checked by the other cluster if it runs there', async () => {
    const deployment = {
      ...privileged.deployment,
      externalClusterReference: {
        kubeconfigSecretName: 'k',
        kubeconfigSecretKey: 'v',
        deploymentNamespace: 'x',
      },
    };
    expect(await answerTo('StewardControlPlane', { deployment })).not.toContain('Pod Security');
  });
});
