import { describe, expect, test } from '@jest/globals';
import type { TenantControlPlaneSpec } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { validateStore } from './validate-store.ts';

const drivers = new Map([
  ['open', 'etcd'],
  ['closed', 'etcd'],
]);
const refusals = new Map([['closed', 'accepts no tenants from namespace default']]);
const storage = { setup: { schema: 's', user: 's' }, dataStoreName: 'closed', driver: 'etcd' };

const tenant = (spec: Partial<TenantControlPlaneSpec>, status?: TenantControlPlane['status']): TenantControlPlane =>
  tenantControlPlaneWith({ spec, status });
const said = (tcp: TenantControlPlane, old?: TenantControlPlane): readonly string[] =>
  validateStore({ tcp, old, drivers, refusals }).map((error) => new InvalidInputError(error).message);

describe('A DataStore that does not accept the namespace', () => {
  test('is refused with field, value, reason and fix', () => {
    expect(said(tenant({ dataStore: 'closed' }))).toEqual([
      'spec.dataStore "closed" names a DataStore that accepts no tenants from namespace default: use another DataStore, or ask the operator to add the namespace to the spec.allowedNamespaces of this one',
    ]);
    expect(said(tenant({ dataStore: 'closed' }), tenant({ dataStore: 'open' }))).toHaveLength(1);
    expect(said(tenant({ dataStore: 'open' }))).toEqual([]);
  });

  test('is refused for overrides', () => {
    const dataStoreOverrides = [{ resource: '/events', dataStore: 'closed' }];
    const [message] = said(tenant({ dataStore: 'open', dataStoreOverrides }));
    expect(message).toContain(
      'spec.dataStoreOverrides[0].dataStore "closed" names a DataStore that accepts no tenants',
    );
    const before = tenant({ dataStore: 'open', dataStoreOverrides });
    expect(said(before, before)).toEqual([]);
  });

  test('keeps the tenant that names it already, or has its data there', () => {
    expect(said(tenant({ dataStore: 'closed' }), tenant({ dataStore: 'closed' }))).toEqual([]);
    const moving = tenant({ dataStore: 'open' }, { storage });
    expect(said(tenant({ dataStore: 'closed' }, { storage }), moving)).toEqual([]);
  });
});

describe('A DataStore that is being drained', () => {
  const drained = new Set(['open']);
  const refused = (tcp: TenantControlPlane, old?: TenantControlPlane): readonly string[] =>
    validateStore({ tcp, old, drivers, drained }).map((error) => new InvalidInputError(error).message);

  test('is refused with field, value, reason and fix', () => {
    expect(refused(tenant({ dataStore: 'open' }), tenant({ dataStore: 'closed' }))).toEqual([
      'spec.dataStore "open" names a DataStore that is being drained: its tenants are being migrated to others: use another DataStore, or remove spec.drain of this one',
    ]);
  });

  test('is admitted for a new tenant, which a template may have made', () => {
    expect(refused(tenant({ dataStore: 'open' }))).toEqual([]);
  });

  test('does not count for overrides once the data has left it', () => {
    const drain = { from: 'closed', named: 'closed', dataStoreName: 'open' };
    const old = tenant({ dataStore: 'closed' }, { storage: { ...storage, dataStoreName: 'open', drain } });
    const dataStoreOverrides = [{ resource: '/events', dataStore: 'closed' }];
    expect(refused({ ...old, spec: { ...old.spec, dataStoreOverrides } }, old)).toEqual([]);
  });

  test('is refused for overrides', () => {
    const dataStoreOverrides = [{ resource: '/events', dataStore: 'open' }];
    const [message] = refused(tenant({ dataStore: 'closed', dataStoreOverrides }));
    expect(message).toContain('spec.dataStoreOverrides[0].dataStore "open" names a DataStore that is being drained');
  });

  test('keeps the tenant that names it already, or has its data there', () => {
    expect(refused(tenant({ dataStore: 'open' }), tenant({ dataStore: 'open' }))).toEqual([]);
    const home = { storage: { ...storage, dataStoreName: 'open' } };
    expect(refused(tenant({ dataStore: 'open' }, home), tenant({ dataStore: 'closed' }, home))).toEqual([]);
  });
});
