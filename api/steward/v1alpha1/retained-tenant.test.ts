import { expect, test } from '@jest/globals';
import { storedMeta } from '../../as-stored.ts';
import type { RetainedControlPlane } from './retained-control-plane.ts';
import { retainedTenant } from './retained-tenant.ts';
import { UnreadableRecord } from './unreadable-record.ts';

const spec = { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } };

const retaining = (record: object): RetainedControlPlane => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'RetainedControlPlane',
  metadata: storedMeta({ name: 'team.prod', uid: 'own' }),
  spec: { formerUID: 'former', record: JSON.stringify(record) },
});

test('the retained tenant has the name of its record, its own former UID and what was recorded', () => {
  const status = { storage: { dataStoreName: 'eu' } };
  expect(retainedTenant(retaining({ spec, status }))).toEqual({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: storedMeta({ namespace: 'team', name: 'prod', uid: 'former' }),
    spec,
    status,
  });
});

test('a retained tenant of which no status was recorded has none', () => {
  expect(retainedTenant(retaining({ spec }))).not.toMatchObject({ status: expect.anything() });
});

test('a record without a spec cannot be read', () => {
  expect(retainedTenant(retaining({}))).toBeInstanceOf(UnreadableRecord);
});

test('A record that has not changed is read once', () => {
  const record = retaining({ spec });
  expect(retainedTenant(record)).toBe(retainedTenant(record));
  expect(retainedTenant({ ...record, spec: { ...record.spec, formerUID: 'other' } })).toMatchObject({
    metadata: { uid: 'other' },
  });
});
