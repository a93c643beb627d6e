import { describe, expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { BackupRefusal } from './backup-refusal.ts';
import { restoredObjects } from './restored-objects.ts';

const tcp = { ...tenantControlPlaneWith({ metadata: { namespace: 'a', name: 'shop' } }) };
const secret = (name: string, more: object = {}): Readonly<Record<string, unknown>> => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'a', name },
  type: 'Opaque',
  data: { x: 'eA==' },
  ...more,
});

describe('The objects of a backup', () => {
  test('are the control plane, its CAs and keys, without owners and finalizers that a forger adds', () => {
    const owned = secret('shop-ca', {
      metadata: { name: 'shop-ca', finalizers: ['a/b'], ownerReferences: [{ uid: 'x' }], labels: { a: 'b' } },
    });
    const { own, secrets } = restoredObjects([owned, secret('shop-encryption'), { ...tcp }], 'shop');
    expect(own).toMatchObject({ kind: 'TenantControlPlane', metadata: { name: 'shop' }, spec: tcp.spec });
    expect(secrets.map(({ metadata }) => metadata)).toEqual([
      { name: 'shop-ca', namespace: undefined, labels: { a: 'b' }, annotations: {} },
      { name: 'shop-encryption', namespace: 'a', labels: {}, annotations: {} },
    ]);
  });

  test.each([
    ['a Secret of another name', secret('database-password')],
    ['a token of a service account', secret('shop-ca', { type: 'kubernetes.io/service-account-token' })],
    ['another kind', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'shop' } }],
    ['a second control plane', { ...tcp, metadata: { ...tcp.metadata, name: 'other' } }],
  ])('are refused with %s', (_what, forged) => {
    expect(() => restoredObjects([{ ...tcp }, forged], 'shop')).toThrow(BackupRefusal);
  });
});
