import { describe, expect, test } from '@jest/globals';
import { appliedManifest } from './applied-manifest.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const object = (spec: object, annotations: Readonly<Record<string, string>> = {}): never =>
  ({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { namespace: 'tenants', name: 'shop', annotations },
    spec,
  }) as never;

describe('A manifest that is applied', () => {
  test('is the object if there is none', () => {
    const manifest = object({ a: 1 });
    expect(appliedManifest(undefined, manifest)).toBe(manifest);
  });

  test('keeps fields that others have set', () => {
    const merged = appliedManifest<never>(object({ a: 1, byWebhook: 2 }), object({ a: 3 }));
    expect(merged).toMatchObject({ spec: { a: 3, byWebhook: 2 } });
  });

  test('removes what the last apply named and it does not', () => {
    const record = JSON.stringify({ metadata: { annotations: { team: 'blue' } }, spec: { a: 1, b: 2 } });
    const current = object({ a: 1, b: 2, byWebhook: 3 }, { team: 'blue', [lastApplied]: record });
    const merged = appliedManifest<never>(current, object({ a: 1 })) as { readonly metadata: object };
    expect(merged).toMatchObject({ spec: { a: 1, byWebhook: 3 } });
    expect(merged).not.toHaveProperty('spec.b');
    expect(merged.metadata).not.toHaveProperty(['annotations', 'team']);
  });

  test('removes nothing if the record of the last apply cannot be read', () => {
    const merged = appliedManifest<never>(object({ a: 1, b: 2 }, { [lastApplied]: '{' }), object({ a: 1 }));
    expect(merged).toMatchObject({ spec: { a: 1, b: 2 } });
  });
});
