import { expect, test } from '@jest/globals';
import { labels } from '../../../names.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlane } from '../tenant-control-plane.ts';
import type { ControlPlanePool } from './control-plane-pool.ts';
import { isClaimable, isUnclaimed } from './prepared.ts';
import { templateHash } from './template-hash.ts';

const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
const template = { spec: tenantControlPlaneWith().spec };
const pool: ControlPlanePool = {
  ...{ apiVersion, kind: 'ControlPlanePool' },
  metadata: { name: 'small', namespace: 'team', uid: 'p', resourceVersion: '1', generation: 1 },
  spec: { template, minReady: 1 },
};
const owner = (uid: string, controller = true) => ({ apiVersion, kind: 'Any', name: 'any', uid, controller });
const mark = { [labels.templateHash]: templateHash(template) };

const prepared = (metadata: Partial<TenantControlPlane['metadata']> = {}): TenantControlPlane =>
  tenantControlPlaneWith({
    metadata: { namespace: 'team', labels: mark, ownerReferences: [owner('p')], ...metadata },
    status: {
      observedGeneration: 1,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
      ],
    },
  });

test('a control plane that the pool owns, of its template and Ready, can be claimed', () => {
  expect(isClaimable(prepared(), pool)).toBe(true);
});

test.each([
  ['has the label of a claim, although the pool still owns it', { labels: { ...mark, [labels.claimedBy]: 'c' } }],
  ['belongs to a claim, although its label is gone', { ownerReferences: [owner('c')] }],
  ['the pool owns without being its controller', { ownerReferences: [owner('p', false)] }],
  ['has no owner', { ownerReferences: [] }],
  ['is in another namespace', { namespace: 'foreign' }],
])('one that %s is not in reserve', (_, metadata) => {
  expect(isUnclaimed(prepared(metadata), pool)).toBe(false);
  expect(isClaimable(prepared(metadata), pool)).toBe(false);
});

test.each([
  ['is of another template', { labels: {} }],
  ['is being deleted', { deletionTimestamp: '2030-01-01T00:00:00Z' }],
  ['has a status of a former spec', { generation: 2 }],
])('one that %s is in reserve, and cannot be claimed', (_, metadata) => {
  expect(isUnclaimed(prepared(metadata), pool)).toBe(true);
  expect(isClaimable(prepared(metadata), pool)).toBe(false);
});
