import { describe, expect, test } from '@jest/globals';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { RotationPhase } from '../../../api/steward/v1alpha1/credentials-rotation.ts';
import { tenantControlPlaneWith } from '../../../testing/tenant-control-plane.ts';
import { complaintsAbout } from '../admission.ts';

const drivers = new Map([['default', 'etcd']]);

/** A tenant whose annotation asks for `asked`, and whose authorities are at `phase` of a rotation. */
function tenant(asked: string | undefined, phase?: RotationPhase): TenantControlPlane {
  const lastInitiationTime = '2030-01-01T00:00:00Z';
  return tenantControlPlaneWith({
    metadata: {
      name: 'tenant',
      namespace: 'default',
      ...(asked && { annotations: { [annotations.operation]: asked } }),
    },
    ...(phase !== undefined && {
      status: { certificates: { rotation: { certificateAuthorities: { phase, lastInitiationTime } } } },
    }),
  });
}

const complaints = (tcp: TenantControlPlane, old?: TenantControlPlane): readonly string[] =>
  complaintsAbout({ tcp, old, drivers }).map(({ field, value, reason }) => `${field}=${String(value)} ${reason}`);

describe('the annotation that asks for an operation', () => {
  test.each<[string, RotationPhase | undefined]>([
    ['rotate-ca-start', undefined],
    ['rotate-ca-start', 'Completed'],
    ['rotate-credentials-start', 'Completed'],
    ['rotate-serviceaccount-key-start', 'Prepared'],
    ['rotate-ca-complete', 'Prepared'],
  ])('%s is admitted while the authorities are %s', (asked, phase) => {
    expect(complaints(tenant(asked, phase), tenant(undefined, phase))).toEqual([]);
  });

  test.each<[string, RotationPhase | undefined, string]>([
    ['rotate-ca-start', 'Preparing', 'starts a rotation of the certificate authorities while one is Preparing'],
    ['rotate-credentials-start', 'Prepared', 'while one is Prepared'],
    ['rotate-ca-start', 'Completing', 'while one is Completing'],
    ['rotate-ca-complete', undefined, 'which is not Prepared: none was started'],
    ['rotate-ca-complete', 'Preparing', 'which is not Prepared: it is Preparing'],
    ['rotate-ca-complete', 'Completed', 'which is not Prepared: it is Completed'],
    ['rotate-credentials-complete', 'Prepared', 'the service-account key which is not Prepared'],
    ['rotate-ca', undefined, 'is no operation'],
  ])('%s is refused while the authorities are %s', (asked, phase, why) => {
    const [complaint = '', ...others] = complaints(tenant(asked, phase), tenant(undefined, phase));
    expect(others).toEqual([]);
    expect(complaint).toContain(`metadata.annotations[${annotations.operation}]=${asked}`);
    expect(complaint).toContain(why);
  });

  test('is not refused where an owner hands it down, who would ask again until it is in time', () => {
    const owner = {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: 'StewardControlPlane',
      name: 'c',
      uid: 'c',
    };
    const asked = tenant('rotate-ca-complete', 'Preparing');
    const owned = (controller: boolean): TenantControlPlane => ({
      ...asked,
      metadata: { ...asked.metadata, ownerReferences: [{ ...owner, controller }] },
    });
    expect(complaints(owned(true), tenant(undefined, 'Preparing'))).toEqual([]);
    expect(complaints(owned(false), tenant(undefined, 'Preparing'))).toHaveLength(1);
  });

  test('that was there before is no wish, nor is one of an object that is made', () => {
    const before = tenant('rotate-ca-start', 'Preparing');
    expect(complaints(before, before)).toEqual([]);
    expect(complaints(tenant('rotate-ca-complete'))).toEqual([]);
  });
});
