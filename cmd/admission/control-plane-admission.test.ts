import { describe, expect, test } from '@jest/globals';
import type { Draft } from '../../api/meta.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { access } from '../../controllers/stewardcontrolplane/access.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import type { AdmissionRequest } from '../../runtime/admission/admission.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { createAdmissions } from './admissions.ts';

const group = 'controlplane.cluster.x-k8s.io';
const bare = {
  network: { serviceType: 'ClusterIP' },
  registry: 'registry.k8s.io',
  kubelet: { cgroupfs: 'systemd', preferredAddressTypes: ['InternalIP'] },
};

interface Asked {
  readonly kind: 'StewardControlPlane' | 'StewardControlPlaneTemplate';
  readonly object: Draft;
  readonly oldObject?: Draft;
  readonly dryRun?: boolean;
}

async function answerTo({ kind, ...asked }: Asked): Promise<string> {
  const cluster = new FakeCluster({ access: [] });
  const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor });
  const handler = admissions[`/validate-controlplane-cluster-x-k8s-io-${kind.toLowerCase()}`];
  if (handler === undefined) throw new Error(`nobody answers for ${kind}`);
  const operation = asked.oldObject === undefined ? 'CREATE' : 'UPDATE';
  const request: AdmissionRequest = { uid: '1', operation, kind: { group, version: 'v1alpha2', kind }, ...asked };
  const ask = async (): Promise<string> => {
    const answer = await handler(request, { signal: new AbortController().signal });
    return answer.allowed ? 'allowed' : answer.message;
  };
  const first = await ask();
  // A second call returns the same, and nothing has changed: dry runs and retries are safe.
  expect(await ask()).toBe(first);
  expect(cluster.calls).toEqual([]);
  return first;
}

const controlPlane = (spec: object, status?: object): Draft =>
  ({
    apiVersion: `${group}/v1alpha2`,
    kind: 'StewardControlPlane',
    metadata: { name: 'a', namespace: 'default' },
    spec: { version: 'v1.35.4', replicas: 1, ...bare, ...spec },
    status,
  }) as Draft;

const template = (spec: object, metadata: object = {}): Draft =>
  ({
    apiVersion: `${group}/v1alpha2`,
    kind: 'StewardControlPlaneTemplate',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: { template: { spec: { ...bare, ...spec } } },
  }) as Draft;

/** Scales by the CPU of kube-apiserver. */
const scaledByCpu = {
  deployment: { autoscaling: { minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 80 } },
};

describe('A control plane', () => {
  const kind = 'StewardControlPlane';

  test.each<[string, object, string]>([
    ['an argument that is no flag', { apiServer: { extraArgs: ['v=2'] } }, 'extraArgs.apiServer[0]'],
    [
      'a mount of no volume',
      { scheduler: { extraVolumeMounts: [{ name: 'x', mountPath: '/x' }] } },
      'is not the name of a volume',
    ],
    ['an unknown way to bootstrap workers', { addons: { workerBootstrap: { provider: 'kops' } } }, 'provider'],
    ['fewer than no pods', { replicas: -1 }, 'replicas'],
    [
      'an alternative name with a port',
      { network: { ...bare.network, certSANs: ['a:443'] } },
      'spec.network.certSANs[0]',
    ],
  ])('is refused for %s, like its TenantControlPlane', async (_name, spec, expected) => {
    expect(await answerTo({ kind, object: controlPlane(spec) })).toContain(expected);
  });

  test('is refused for a share of a CPU request that it does not set, with fields of its own', async () => {
    const message = await answerTo({ kind, object: controlPlane(scaledByCpu) });
    expect(message).toMatch(/^spec\.deployment\.autoscaling\.targetCPUUtilizationPercentage "80" /);
    expect(message).toMatch(/: set spec\.apiServer\.resources\.requests\.cpu$/);
    const apiServer = { resources: { requests: { cpu: '100m' } } };
    expect(await answerTo({ kind, object: controlPlane({ ...scaledByCpu, apiServer }) })).toBe('allowed');
    const object = controlPlane({ ...scaledByCpu, controlPlaneEndpoint: { host: 'a', port: 6443 } });
    expect(await answerTo({ kind, object, oldObject: controlPlane(scaledByCpu) })).toBe('allowed');
  });

  test('is not refused for values that its Cluster decides', async () => {
    const network = { ...bare.network, dnsServiceIPs: ['172.30.0.10'], serviceAddress: 'fd00::1' };
    expect(await answerTo({ kind, object: controlPlane({ network, dataStoreName: 'to-come' }) })).toBe('allowed');
  });

  test('may be updated by the controller although it was admitted with values that are refused today', async () => {
    const wrong = { apiServer: { extraArgs: ['v=2'] } };
    const object = controlPlane({ ...wrong, controlPlaneEndpoint: { host: 'a', port: 6443 } });
    expect(await answerTo({ kind, object, oldObject: controlPlane(wrong) })).toBe('allowed');
  });

  test('is refused if it skips a minor, with the versions that are possible; a held upgrade may be reverted', async () => {
    const object = controlPlane({ version: 'v1.36.0' });
    const message = await answerTo({ kind, object, oldObject: controlPlane({ version: 'v1.34.2' }) });
    expect(message).toContain('from v1.34.2 upgrade to v1.34 (another patch) or v1.35 (the next minor)');
    const running = { version: 'v1.34.2', versions: [{ version: 'v1.34.2', replicas: 2 }] };
    const back = { object: controlPlane({ version: 'v1.34.2' }), oldObject: controlPlane({}, running) };
    expect(await answerTo({ kind, ...back })).toBe('allowed');
    const begun = { ...running, versions: [...running.versions, { version: 'v1.35.4', replicas: 1 }] };
    expect(await answerTo({ kind, ...back, oldObject: controlPlane({}, begun) })).toContain('is a downgrade');
    const midway = controlPlane({ version: 'v1.35.4' }, { version: 'v1.34.2' });
    expect(await answerTo({ kind, object, oldObject: midway })).toContain('skips a minor version after v1.34.2');
  });
});

describe('The TenantControlPlane of a control plane', () => {
  const key = { namespace: 'default', name: 'a' };
  const kind = { group: 'steward.butlerlabs.dev', version: 'v1alpha1', kind: 'TenantControlPlane' };
  const owner = { apiVersion: `${group}/v1alpha2`, kind: 'StewardControlPlane', name: 'a', controller: true };

  async function deletion(
    scp: Draft | undefined,
    metadata: object,
    { uid, propagationPolicy }: { readonly uid?: string | undefined; readonly propagationPolicy?: string } = {},
  ): Promise<string> {
    const cluster = new FakeCluster({ access });
    const made = scp === undefined ? undefined : await cluster.seed(stewardControlPlane, scp);
    if (scp?.metadata.deletionTimestamp !== undefined) await cluster.admin.delete(stewardControlPlane, key);
    const ownerReferences = [{ ...owner, uid: uid ?? made?.metadata.uid ?? 'gone' }];
    const oldObject = { apiVersion: 'x/v1', kind: 'x', metadata: { ...key, ownerReferences, ...metadata } };
    const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor });
    const handler = admissions['/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane'];
    const asked = { uid: '1', operation: 'DELETE', kind, oldObject } as const;
    const request: AdmissionRequest =
      propagationPolicy === undefined ? asked : { ...asked, options: { propagationPolicy } };
    const answer = await handler?.(request, { signal: new AbortController().signal });
    return answer?.allowed === false ? answer.message : 'allowed';
  }

  test('is not deleted by mistake: the refusal says what its deletion does and how to confirm it', async () => {
    const message = await deletion(controlPlane({}), {});
    expect(message).toMatch(
      /StewardControlPlane a.*recreate .*with the same data.*unavailable.*delete the Cluster instead/,
    );
  });

  test('is deleted with background propagation only, so that its CAs can be retained', async () => {
    const meant = marked('steward.butlerlabs.dev/delete-anyway', 'true');
    expect(await deletion(controlPlane({}), meant, { propagationPolicy: 'Background' })).toBe('allowed');
    const message = await deletion(controlPlane({}), meant, { propagationPolicy: 'Foreground' });
    expect(message).toMatch(/foreground deletion would remove its CAs.*use background deletion/);
    const moved = marked('clusterctl.cluster.x-k8s.io/delete-for-move', '');
    expect(await deletion(controlPlane({}), moved, { propagationPolicy: 'Foreground' })).toBe('allowed');
  });

  const leaving = { ...controlPlane({}), metadata: { ...key, deletionTimestamp: 'x', finalizers: ['a/b'] } };
  const marked = (name: string, value: string): object => ({ annotations: { [name]: value } });
  test.each<{ when: string; scp: Draft | undefined; metadata?: object; uid?: string }>([
    { when: 'its control plane goes', scp: leaving },
    { when: 'its control plane is gone', scp: undefined },
    { when: 'another control plane of that name is there now', scp: controlPlane({}), uid: 'of-the-one-before' },
    {
      when: 'it was moved',
      scp: controlPlane({}),
      metadata: marked('clusterctl.cluster.x-k8s.io/delete-for-move', ''),
    },
    {
      when: 'the deletion is confirmed',
      scp: controlPlane({}),
      metadata: marked('steward.butlerlabs.dev/delete-anyway', 'true'),
    },
  ])('is deleted when $when', async ({ scp, metadata = {}, uid }) => {
    expect(await deletion(scp, metadata, { uid })).toBe('allowed');
  });

  test('is deleted if the annotation confirms it, also by a manager that may not read control planes', async () => {
    const cluster = new FakeCluster({ access: [] });
    const metadata = {
      ...key,
      ownerReferences: [{ ...owner, uid: '1' }],
      ...marked('steward.butlerlabs.dev/delete-anyway', 'true'),
    };
    const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor });
    const request = {
      uid: '1',
      operation: 'DELETE',
      kind,
      oldObject: { apiVersion: 'x/v1', kind: 'x', metadata },
    } as const;
    const handler = admissions['/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane'];
    expect(await handler?.(request, { signal: new AbortController().signal })).toMatchObject({ allowed: true });
  });
});

describe('A TenantControlPlane that belongs to a StewardControlPlane of another cluster', () => {
  const kind = { group: 'steward.butlerlabs.dev', version: 'v1alpha1', kind: 'TenantControlPlane' };
  const external = 'external.steward.butlerlabs.dev';

  async function deletion(annotations: object, username?: string): Promise<string> {
    const cluster = new FakeCluster({ access: [] });
    const metadata = { namespace: 'hosted', name: 'kcp-1', annotations: { ...annotations } };
    const oldObject = { apiVersion: 'x/v1', kind: 'x', metadata };
    const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor });
    const handler = admissions['/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane'];
    const asked = { uid: '1', operation: 'DELETE', kind, oldObject } as const;
    const request: AdmissionRequest = username === undefined ? asked : { ...asked, userInfo: { username } };
    const answer = await handler?.(request, { signal: new AbortController().signal });
    return answer?.allowed === false ? answer.message : 'allowed';
  }

  const obeying = { [`${external}/claim`]: 'hash', [`${external}/holder`]: 'uid-there' };
  const meant = { 'steward.butlerlabs.dev/delete-anyway': 'true' };

  test('is not deleted by users, because that would remove its data, and the refusal names the fix', async () => {
    const message = await deletion(obeying, 'somebody');
    expect(message).toMatch(/UID uid-there.*without its data.*delete the Cluster there.*delete-anyway/);
  });

  test.each<[string, object, string]>([
    ['when the deletion is confirmed there, or by an annotation here', { ...obeying, ...meant }, 'somebody'],
    ['with its namespace', obeying, 'system:serviceaccount:kube-system:namespace-controller'],
    ['with its namespace, also where controllers share one account', obeying, 'system:kube-controller-manager'],
    ['when nothing manages it', {}, 'somebody'],
  ])('is deleted %s', async (_when, annotations, username) => {
    expect(await deletion(annotations, username)).toBe('allowed');
  });
});

describe('A StewardControlPlaneTemplate', () => {
  const kind = 'StewardControlPlaneTemplate';
  const wrong = { apiServer: { extraArgs: ['v=2'] } };

  test('is refused for what its control planes would be refused for', async () => {
    expect(await answerTo({ kind, object: template({}) })).toBe('allowed');
    const message = await answerTo({ kind, object: template(wrong) });
    expect(message).toContain('spec.template.spec.controlPlane.deployment.extraArgs.apiServer[0]');
    const names = { network: { ...bare.network, certSANs: ['ok.example', 'a.example:443'] } };
    expect(await answerTo({ kind, object: template(names) })).toContain('spec.template.spec.network.certSANs[1]');
    expect(await answerTo({ kind, object: template(wrong, { deletionTimestamp: '2026-01-01T00:00:00Z' }) })).toBe(
      'allowed',
    );
  });

  test('is refused for a share of a CPU request that it does not set, with fields of its own', async () => {
    const message = await answerTo({ kind, object: template(scaledByCpu) });
    expect(message).toMatch(/^spec\.template\.spec\.deployment\.autoscaling\.targetCPUUtilizationPercentage "80" /);
    expect(message).toMatch(/: set spec\.template\.spec\.apiServer\.resources\.requests\.cpu$/);
    const apiServer = { resources: { limits: { cpu: 1 } } };
    expect(await answerTo({ kind, object: template({ ...scaledByCpu, apiServer }) })).toBe('allowed');
  });

  test('cannot be changed, and the refusal says how to use another one', async () => {
    const oldObject = template({});
    const message = await answerTo({ kind, object: template({ dataStoreName: 'gold' }), oldObject });
    expect(message).toMatch(/spec\.template\.spec.*cannot be changed.*template with another name.*ClusterClass/);
    expect(await answerTo({ kind, object: template({}, { labels: { a: 'b' } }), oldObject })).toBe('allowed');
  });

  test('may be changed in dry runs of the topology controller only', async () => {
    const oldObject = template({});
    const marked = template({ dataStoreName: 'gold' }, { annotations: { 'topology.cluster.x-k8s.io/dry-run': '' } });
    expect(await answerTo({ kind, object: marked, oldObject, dryRun: true })).toBe('allowed');
    expect(await answerTo({ kind, object: marked, oldObject })).toContain('cannot be changed');
    const unmarked = template({ dataStoreName: 'gold' });
    expect(await answerTo({ kind, object: unmarked, oldObject, dryRun: true })).toContain('cannot be changed');
  });
});

describe('The backup that a control plane starts from', () => {
  const restoreFrom = { policyName: 'hourly' };
  const completionTime = '2030-01-01T00:00:00Z';

  test.each([
    [
      'is refused before it is restored',
      { restore: { name: 'a-restore' } },
      /spec\.restoreFrom.*before the backup is restored/,
    ],
    ['is admitted once it is restored', { restore: { name: 'a-restore', completionTime } }, /^allowed$/],
  ])('its removal, as by a topology without the variable, %s', async (_what, status, answer) => {
    const oldObject = controlPlane({ restoreFrom }, status);
    expect(await answerTo({ kind: 'StewardControlPlane', object: controlPlane({}), oldObject })).toMatch(answer);
  });

  test('its removal from a template is for the rule about templates alone', async () => {
    const object = template({}, { annotations: { 'topology.cluster.x-k8s.io/dry-run': '' } });
    const asked = {
      kind: 'StewardControlPlaneTemplate',
      object,
      oldObject: template({ restoreFrom }),
      dryRun: true,
    } as const;
    expect(await answerTo(asked)).toBe('allowed');
  });
});
