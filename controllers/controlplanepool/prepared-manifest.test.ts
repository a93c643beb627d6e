import { describe, expect, test } from '@jest/globals';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { templateHash } from '../../api/steward/v1alpha1/pool/template-hash.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { nameProblem, preparedManifest } from './prepared-manifest.ts';

const { spec } = tenantControlPlaneWith();
const pool = (name = 'small', metadata: ControlPlanePool['spec']['template']['metadata'] = {}): ControlPlanePool => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'ControlPlanePool',
  metadata: { name, namespace: 'team', uid: 'pool-uid', resourceVersion: '1', generation: 1 },
  spec: { template: { metadata, spec }, minReady: 1 },
});

describe('A prepared control plane', () => {
  test('is what the template says, belongs to the pool, and is marked with pool and template', () => {
    const given = pool('small', { labels: { tier: 'gold' }, annotations: { note: 'a' } });
    expect(preparedManifest(given, 'x7k2')).toEqual({
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: {
        name: 'small-x7k2',
        namespace: 'team',
        labels: {
          tier: 'gold',
          'steward.butlerlabs.dev/pool': 'small',
          'steward.butlerlabs.dev/template-hash': templateHash(given.spec.template),
        },
        annotations: { note: 'a' },
        ownerReferences: [expect.objectContaining({ kind: 'ControlPlanePool', uid: 'pool-uid', controller: true })],
      },
      spec,
    });
  });

  test.each([
    ['small', true],
    ['a', true],
    ['a'.repeat(50), true],
    ['a'.repeat(51), false],
    ['1st', false],
    ['a.b', false],
    ['a-', false],
  ])('can have a name that begins with %s: %s', (name, isUsable) => {
    expect(nameProblem(pool(name)) === undefined).toBe(isUsable);
  });
});
