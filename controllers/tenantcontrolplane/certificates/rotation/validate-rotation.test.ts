import { describe, expect, test } from '@jest/globals';
import { annotations } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { RotationPhase } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { validate } from '../../admission.ts';

const drivers = new Map([['default', 'etcd']]);

/** A tenant whose annotation requests `requested`, and whose CAs are in `phase` of a rotation. */
function tenant(requested: string | undefined, phase?: RotationPhase): TenantControlPlane {
  const lastInitiationTime = '2030-01-01T00:00:00Z';
  return tenantControlPlaneWith({
    metadata: {
      name: 'tenant',
      namespace: 'default',
      ...(requested && { annotations: { [annotations.operation]: requested } }),
    },
    ...(phase !== undefined && {
      status: { certificates: { rotation: { certificateAuthorities: { phase, lastInitiationTime } } } },
    }),
  });
}

const errors = (tcp: TenantControlPlane, old?: TenantControlPlane): readonly string[] =>
  validate({ tcp, old, drivers }).map(({ field, value, reason }) => `${field}=${String(value)} ${reason}`);

describe('The annotation that requests an operation', () => {
  test.each<[string, RotationPhase | undefined]>([
    ['rotate-ca-start', undefined],
    ['rotate-ca-start', 'Completed'],
    ['rotate-credentials-start', 'Completed'],
    ['rotate-serviceaccount-key-start', 'Prepared'],
    ['rotate-ca-complete', 'Prepared'],
  ])('%s is admitted while the CAs are %s', (requested, phase) => {
    expect(errors(tenant(requested, phase), tenant(undefined, phase))).toEqual([]);
  });

  test.each<[string, RotationPhase | undefined, string]>([
    ['rotate-ca-start', 'Preparing', 'cannot start a rotation of the CAs while another one is Preparing'],
    ['rotate-credentials-start', 'Prepared', 'while another one is Prepared'],
    ['rotate-ca-start', 'Completing', 'while another one is Completing'],
    ['rotate-ca-complete', undefined, 'that is not Prepared: none was started'],
    ['rotate-ca-complete', 'Preparing', 'that is not Prepared: it is Preparing'],
    ['rotate-ca-complete', 'Completed', 'that is not Prepared: it is Completed'],
    ['rotate-credentials-complete', 'Prepared', 'the service-account keys that is not Prepared'],
    ['rotate-ca', undefined, 'is not a known operation'],
  ])('%s is refused while the CAs are %s', (requested, phase, why) => {
    const [error = '', ...others] = errors(tenant(requested, phase), tenant(undefined, phase));
    expect(others).toEqual([]);
    expect(error).toContain(`metadata.annotations[${annotations.operation}]=${requested}`);
    expect(error).toContain(why);
  });

  test('is not refused if an owner passes it on, which would repeat it until it is possible', () => {
    const owner = {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: 'StewardControlPlane',
      name: 'c',
      uid: 'c',
    };
    const requested = tenant('rotate-ca-complete', 'Preparing');
    const owned = (controller: boolean): TenantControlPlane => ({
      ...requested,
      metadata: { ...requested.metadata, ownerReferences: [{ ...owner, controller }] },
    });
    expect(errors(owned(true), tenant(undefined, 'Preparing'))).toEqual([]);
    expect(errors(owned(false), tenant(undefined, 'Preparing'))).toHaveLength(1);
  });

  test('is refused on a control plane of a claim, which passes nothing on', () => {
    const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
    const claim = { apiVersion, kind: 'ControlPlaneClaim', name: 'c', uid: 'c', controller: true };
    const requested = tenant('rotate-ca-complete', 'Preparing');
    const owned = { ...requested, metadata: { ...requested.metadata, ownerReferences: [claim] } };
    expect(errors(owned, tenant(undefined, 'Preparing'))).toHaveLength(1);
  });

  test('is no request if it existed before, or on a new object', () => {
    const before = tenant('rotate-ca-start', 'Preparing');
    expect(errors(before, before)).toEqual([]);
    expect(errors(tenant('rotate-ca-complete'))).toEqual([]);
  });
});
