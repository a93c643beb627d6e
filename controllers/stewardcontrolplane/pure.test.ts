import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../api/as-stored.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../api/names.ts';
import { validate, validateExternalDeletion, warningsAbout } from './admission.ts';
import { formatHostAndPort, parseHostAndPort } from './infrastructure/host-and-port.ts';
import { contractKind, definitionName } from '../../api/cluster-api/contract-kind.ts';
import type { InfrastructureCluster } from './infrastructure/infrastructure-patch.ts';
import { infrastructureStep } from './infrastructure/infrastructure-patch.ts';

describe('Endpoints as text', () => {
  test.each([
    ['10.0.0.1:6443', { host: '10.0.0.1', port: 6443 }],
    ['10.0.0.1', { host: '10.0.0.1', port: 443 }],
    ['a.example.com:65535', { host: 'a.example.com', port: 65535 }],
    ['[fd00::1]:32768', { host: 'fd00::1', port: 32768 }],
    ['fd00::1', { host: 'fd00::1', port: 443 }],
    ['a:0', undefined],
    ['a:70000', undefined],
    ['', undefined],
  ])('%s', (text, expected) => {
    expect(parseHostAndPort(text, 443)).toEqual(expected);
  });

  test('An endpoint is read back as it was written', () => {
    const host = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain());
    const property = fc.property(host, fc.integer({ min: 1, max: 65535 }), (host, port) => {
      expect(parseHostAndPort(formatHostAndPort({ host, port }), 1)).toEqual({ host, port });
    });
    fc.assert(property);
  });
});

describe('The deletion of a TenantControlPlane that a StewardControlPlane of another cluster manages', () => {
  const marks = { [annotations.externalClaim]: 'claim', [annotations.externalHolder]: 'holder' };
  const deleted = (marked: Record<string, string>, username: string) =>
    validateExternalDeletion({ apiVersion: '', kind: '', metadata: storedMeta({ annotations: marked }) }, username);

  test('is refused, and says how to fix it', () => {
    expect(deleted(marks, 'somebody')).toMatchObject([{ remedy: expect.stringContaining(annotations.deleteAnyway) }]);
  });

  test.each([
    ['the namespace is deleted', marks, 'system:serviceaccount:kube-system:namespace-controller'],
    ['the namespace is deleted without service accounts', marks, 'system:kube-controller-manager'],
    ['the deletion is confirmed by annotation', { ...marks, [annotations.deleteAnyway]: 'true' }, 'somebody'],
    ['nothing manages it from there', {}, 'somebody'],
  ])('is admitted if %s', (_, marked, username) => {
    expect(deleted(marked, username)).toEqual([]);
  });

  test('is admitted if the object has no annotations at all', () => {
    expect(validateExternalDeletion({ apiVersion: '', kind: '', metadata: storedMeta({}) }, 'somebody')).toEqual([]);
  });
});

describe('Kinds of infrastructure clusters', () => {
  test.each([
    ['AWSCluster', 'awsclusters.infrastructure.cluster.x-k8s.io'],
    ['ProxmoxCluster', 'proxmoxclusters.infrastructure.cluster.x-k8s.io'],
    ['Registry', 'registries.infrastructure.cluster.x-k8s.io'],
  ])('%s is defined as %s', (kind, name) => {
    expect(definitionName('infrastructure.cluster.x-k8s.io', kind)).toBe(name);
  });

  const definition = (labels: Record<string, string>) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: storedMeta({ name: 'ks.g.example', labels }),
  });

  test.each([
    [{ 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' }, 'v1beta2', 'v1beta2'],
    [{ 'cluster.x-k8s.io/v1beta1': 'v1alpha1_v1_v1beta3' }, 'v1beta1', 'v1'],
    [{ 'cluster.x-k8s.io/v1beta1': 'v1beta1_v1beta10_v1beta2' }, 'v1beta1', 'v1beta10'],
  ])('%j chooses contract %s in version %s', (labels, contract, version) => {
    expect(contractKind(definition(labels), 'K')).toEqual({
      contract,
      kind: { group: 'g.example', version, kind: 'K', plural: 'ks', namespaced: true },
    });
  });

  test('A definition without a contract label has no contract', () => {
    expect(contractKind(definition({}), 'K')).toBeUndefined();
  });
});

describe('The next step towards an infrastructure cluster', () => {
  const endpoint = { host: '10.0.0.1', port: 6443 };
  const infra = (spec: object, metadata: object = {}, kind = 'AnyCluster') =>
    ({ apiVersion: 'g/v1beta1', kind, metadata, spec }) as InfrastructureCluster;
  const managed = { annotations: { 'cluster.x-k8s.io/managed-by': 'steward' } };

  test.each([
    ['empty: patched', infra({}), { is: 'patch', spec: { controlPlaneEndpoint: endpoint } }],
    [
      'a zero endpoint: patched',
      infra({ controlPlaneEndpoint: { host: '', port: 0 } }),
      { is: 'patch', spec: { controlPlaneEndpoint: endpoint } },
    ],
    [
      'a placeholder: patched',
      infra({ controlPlaneEndpoint: { host: '0.0.0.0', port: 0 } }),
      { is: 'patch', spec: { controlPlaneEndpoint: endpoint } },
    ],
    ['equal: nothing', infra({ controlPlaneEndpoint: endpoint }), { is: 'agreed' }],
    [
      'another port: refused',
      infra({ controlPlaneEndpoint: { host: '10.0.0.1', port: 1 } }),
      { is: 'mismatch', found: '10.0.0.1:1', wanted: '10.0.0.1:6443' },
    ],
    [
      'OpenStack: its own fields',
      infra({}, {}, 'OpenStackCluster'),
      { is: 'patch', spec: { apiServerFixedIP: '10.0.0.1', apiServerPort: 6443 } },
    ],
    [
      'Metal3 without an endpoint: refused',
      infra({}, {}, 'Metal3Cluster'),
      { is: 'mismatch', found: 'none', wanted: '10.0.0.1:6443' },
    ],
  ])('%s', (_name, cluster, expected) => {
    expect(infrastructureStep(cluster, endpoint, 'v1beta2')).toEqual(expected);
  });

  test.each([
    ['v1beta2', { initialization: { provisioned: true } }],
    ['v1beta1', { ready: true }],
  ] as const)('One that others manage gets the provisioned flag of %s', (contract, status) => {
    const step = infrastructureStep(infra({ controlPlaneEndpoint: endpoint }, managed), endpoint, contract);
    expect(step).toEqual({ is: 'patch', status });
  });

  test('Nothing is left to do after the patch', () => {
    const done = {
      ...infra({ controlPlaneEndpoint: endpoint }, managed),
      status: { initialization: { provisioned: true } },
    };
    expect(infrastructureStep(done, endpoint, 'v1beta2')).toEqual({ is: 'agreed' });
  });
});

describe('Admission of a StewardControlPlane', () => {
  const scp = (spec: object, status?: object): StewardControlPlane =>
    ({
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: 'StewardControlPlane',
      metadata: {},
      spec: { version: 'v1.35.4', replicas: 1, network: { serviceType: 'NodePort' }, ...spec },
      status,
    }) as StewardControlPlane;

  test.each([
    ['a usable version', scp({}), undefined, undefined],
    ['another major version', scp({ version: 'v2.0.0' }), scp({ version: 'v1.35.0' }), 'spec.version'],
    ['one minor up', scp({ version: '1.36.3' }), scp({}), undefined],
    ['two minors up', scp({ version: 'v1.36.0' }), scp({ version: 'v1.34.0' }), 'spec.version'],
    ['a downgrade', scp({ version: 'v1.34.0' }), scp({}), 'spec.version'],
    ['a second minor during a roll-out', scp({ version: 'v1.36.0' }), scp({}, { version: 'v1.34.2' }), 'spec.version'],
    ['no version at all', scp({ version: 'latest' }), undefined, 'spec.version'],
    ['a version that is not hosted, on creation', scp({ version: 'v1.99.0' }), undefined, 'spec.version'],
    [
      'a version that is hosted no more, which stays',
      scp({ version: 'v1.99.0' }),
      scp({ version: 'v1.99.0' }),
      undefined,
    ],
    ['another version than one that is none', scp({}), scp({ version: 'latest' }), undefined],
    [
      'the running version after one that skipped a minor',
      scp({}),
      scp({ version: 'v1.37.0' }, { version: 'v1.35.4' }),
      undefined,
    ],
    ['the same version written otherwise', scp({ version: '1.99.0' }), scp({ version: 'v1.99.0' }), 'spec.version'],
    [
      'a SAN with a port',
      scp({ network: { certSANs: ['ok.example', 'a.example:443'] } }),
      undefined,
      'spec.network.certSANs[1]',
    ],
  ])('%s', (_name, now, old, field) => {
    expect(validate(now, old)[0]?.field).toBe(field);
  });

  test('The newest supported minor of Kubernetes is set by a flag', () => {
    expect(validate(scp({ version: 'v1.37.0' }), undefined)[0]?.remedy).toBe('use a version from v1.29 to v1.36');
    expect(validate(scp({ version: 'v1.37.0' }), undefined, 37)).toEqual([]);
    expect(validate(scp({}), undefined, 34)[0]?.remedy).toBe('use a version from v1.29 to v1.34');
  });

  test('The last minor does not bound patches of one that runs', () => {
    const old = scp({ version: 'v1.36.2' }, { version: 'v1.36.2' });
    expect(validate(scp({ version: 'v1.36.3' }), old, 35)).toEqual([]);
    expect(validate(scp({ version: 'v1.37.0' }), old, 35)).toHaveLength(1);
  });

  test('A version that is not tested is admitted with a warning', () => {
    expect(warningsAbout(scp({ version: 'v1.28.0' }))).toEqual([
      expect.stringContaining('is older than the tested versions'),
    ]);
    expect(warningsAbout(scp({}))).toEqual([]);
  });

  test('An object that is being deleted may keep invalid values', () => {
    const gone = { ...scp({ version: 'x' }), metadata: storedMeta({ deletionTimestamp: '2026-01-01T00:00:00Z' }) };
    expect(validate(gone, undefined)).toEqual([]);
  });
});
