import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { versionFacts } from './version-facts.ts';

const tenant = (version: string, installed?: string): TenantControlPlane =>
  tenantControlPlaneWith({
    kubernetes: { version },
    ...(installed !== undefined && {
      status: { kubernetesResources: { version: { status: 'Ready', version: installed } } },
    }),
  });

const podsOf = (version: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: storedMeta({ name: 'tenant' }),
  spec: {
    selector: {},
    template: {
      spec: { containers: [{ name: 'kube-apiserver', image: `registry.k8s.io/kube-apiserver:${version}` }] },
    },
  },
});

describe('the versions of a control plane', () => {
  test('are the wanted one alone before anything runs', () => {
    expect(versionFacts({ tcp: tenant('1.36.3') })).toEqual({ wanted: parseVersion('v1.36.3') });
  });

  test('are the wanted, the installed and the one of the pods, however they are written', () => {
    expect(versionFacts({ tcp: tenant(' 1.36.3 ', '1.35.4'), deployment: podsOf('v1.36.3-hardened') })).toEqual({
      wanted: parseVersion('v1.36.3'),
      installed: parseVersion('v1.35.4'),
      running: parseVersion('v1.36.3'),
    });
  });

  test('lack the wanted one when the spec has no valid version, and report that', () => {
    const { wanted, refusal } = versionFacts({ tcp: tenant('latest', 'v1.35.4') });
    expect(wanted).toBeUndefined();
    expect(refusal).toMatchObject({ field: 'spec.kubernetes.version', value: 'latest' });
  });

  test('lack the installed one when the status has no valid version, and then no step may be made', () => {
    const { installed, refusal } = versionFacts({ tcp: tenant('v1.36.3', 'broken') });
    expect(installed).toBeUndefined();
    expect(refusal).toMatchObject({ field: 'status.kubernetesResources.version.version', value: 'broken' });
  });
});

describe('the step to the wanted version', () => {
  test.each<[string, Parameters<typeof versionFacts>[0], string | undefined]>([
    ['nowhere', { tcp: tenant('v1.36.3', 'v1.36.3'), deployment: podsOf('v1.36.3') }, undefined],
    ['another patch', { tcp: tenant('v1.36.1', 'v1.36.3'), deployment: podsOf('v1.36.3') }, undefined],
    ['the next minor', { tcp: tenant('v1.36.3', 'v1.35.4'), deployment: podsOf('v1.35.4') }, undefined],
    ['a skipped minor', { tcp: tenant('v1.36.3', 'v1.34.1') }, 'skips a minor version after v1.34.1'],
    [
      'a minor that pods of the one before do not skip, but the installed one does',
      { tcp: tenant('v1.36.3', 'v1.34.1'), deployment: podsOf('v1.35.4') },
      'skips a minor version after v1.34.1',
    ],
    [
      'the installed minor while pods of a later one may have stored something',
      { tcp: tenant('v1.35.4', 'v1.35.4'), deployment: podsOf('v1.36.3') },
      'is a downgrade from v1.36.3',
    ],
    ['an older minor before the first start', { tcp: tenant('v1.34.1'), deployment: podsOf('v1.36.3') }, undefined],
    ['a minor that is not hosted', { tcp: tenant('v1.37.0', 'v1.36.3') }, 'is newer than the supported versions'],
    [
      'a minor that is hosted although it is not tested',
      { tcp: tenant('v1.37.0', 'v1.36.3'), newestMinor: 37 },
      undefined,
    ],
    [
      'a patch of the installed minor, which is hosted no more',
      { tcp: tenant('v1.36.4', 'v1.36.3'), newestMinor: 35 },
      undefined,
    ],
    [
      'the minor that is rolled out, which is hosted no more',
      { tcp: tenant('v1.36.4', 'v1.35.4'), deployment: podsOf('v1.36.3'), newestMinor: 35 },
      undefined,
    ],
  ])('to %s', (_where, sources, reason) => {
    const { refusal } = versionFacts(sources);
    expect(refusal?.reason).toBe(reason);
    if (refusal !== undefined) expect(new InvalidInputError(refusal).message).toContain('spec.kubernetes.version "');
  });
});
