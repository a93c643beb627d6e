import { describe, expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { validateQuota } from './validate-quota.ts';

const quota = { objects: 10, warnAtPercent: 80 };

const errors = (changes: TenantControlPlaneChanges): readonly string[] =>
  validateQuota(tenantControlPlaneWith({ spec: { quota }, ...changes })).map(
    ({ field, value = '', reason }) => `${field} ${value} ${reason}`,
  );

const withArguments = (...apiServer: readonly string[]): readonly string[] =>
  errors({ deployment: { extraArgs: { apiServer } } });

describe('Admission of a quota', () => {
  test('accepts one that can be enforced', () => {
    expect(errors({})).toEqual([]);
    expect(errors({ kubernetes: { version: 'v1.30.0' } })).toEqual([]);
    expect(withArguments('--disable-admission-plugins=PodSecurity', '--runtime-config=api/all=true')).toEqual([]);
    expect(withArguments('--runtime-config=admissionregistration.k8s.io/v1alpha1=false,batch/v1=false')).toEqual([]);
  });

  test('refuses a version without admission policies', () => {
    expect(errors({ kubernetes: { version: 'v1.29.15' } })).toEqual([
      'spec.quota  needs Kubernetes 1.30 or later, because it is enforced by an admission policy, and spec.kubernetes.version is v1.29.15',
    ]);
    expect(validateQuota(tenantControlPlaneWith({ kubernetes: { version: 'v1.29.15' } }))).toEqual([]);
  });

  test.each([
    '--disable-admission-plugins=ValidatingAdmissionPolicy',
    '--disable_admission_plugins=PodSecurity, ValidatingAdmissionPolicy',
    '--runtime-config=api/all=false',
    '--runtime-config=batch/v1=true,api/ga=0',
    '--runtime-config=admissionregistration.k8s.io/v1=false',
    '--runtime-config=admissionregistration.k8s.io/v1/validatingadmissionpolicies=false',
    '--runtime-config=admissionregistration.k8s.io/v1/validatingadmissionpolicybindings=f',
  ])('refuses the argument %s, with which it would have no effect', (argument) => {
    const [found, ...others] = withArguments('--v=2', argument);
    expect(found).toMatch(/^spec\.controlPlane\.deployment\.extraArgs\.apiServer\[1\] --[a-z-]+ switches off/);
    expect(others).toEqual([]);
  });

  test.each(['0', '-1Gi', '500m'])('refuses %s bytes', (dataSize) => {
    const spec = { quota: { dataSize, warnAtPercent: 80 } };
    expect(errors({ spec })).toEqual([`spec.quota.dataSize ${dataSize} is not a number of bytes above 0`]);
  });
});
