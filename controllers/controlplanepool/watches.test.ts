import { expect, test } from '@jest/globals';
import { labels } from '../../api/names.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Key, Resource } from '../../api/meta.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { poolWatches } from './watches.ts';

const small = [{ namespace: 'default', name: 'small' }];
const keysOf = (kind: string, old: Resource | undefined, now: Resource | undefined): readonly Key[] =>
  poolWatches.find((watch) => watch.kind.kind === kind)?.keys(old, now) ?? [];

const tcp = (marks: object, status?: TenantControlPlane['status']): TenantControlPlane =>
  tenantControlPlaneWith({ metadata: { labels: { [labels.pool]: 'small', ...marks } }, status });
const ready = (status: 'True' | 'False'): NonNullable<TenantControlPlane['status']> => ({
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status, reason: 'Ready', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' }],
});

test('a control plane of a pool concerns it when it comes, goes, is claimed, or changes between Ready and not', () => {
  const of = (old?: TenantControlPlane, now?: TenantControlPlane) => keysOf(tenantControlPlane.kind, old, now);
  expect(of(undefined, tcp({}))).toEqual(small);
  expect(of(tcp({}), undefined)).toEqual(small);
  expect(of(tcp({}), tcp({ [labels.claimedBy]: 'u' }))).toEqual(small);
  expect(of(tcp({}, ready('False')), tcp({}, ready('True')))).toEqual(small);
  expect(of(tcp({}, ready('True')), tcp({}, { ...ready('True'), controlPlaneEndpoint: 'a:1' }))).toEqual([]);
  expect(of(undefined, tenantControlPlaneWith())).toEqual([]);
});

test('a claim concerns the pool that it names when it comes, goes, or gets a control plane', () => {
  const claim = (status?: ControlPlaneClaim['status']): ControlPlaneClaim => ({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'ControlPlaneClaim',
    metadata: { name: 'mine', namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { pool: 'small', deletionPolicy: 'Delete' },
    ...(status && { status }),
  });
  const of = (old?: ControlPlaneClaim, now?: ControlPlaneClaim) => keysOf(controlPlaneClaim.kind, old, now);
  expect(of(undefined, claim())).toEqual(small);
  expect(of(claim(), claim({ tenantControlPlane: 'a' }))).toEqual(small);
  expect(of(claim(), undefined)).toEqual(small);
  expect(of(claim({ conditions: [] }), claim({ observedGeneration: 1 }))).toEqual([]);
});
