import { describe, expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { storedMeta } from '../../as-stored.ts';
import { dataOwner } from './data-owner.ts';
import { hasAdopted } from './has-adopted.ts';
import type { RetainedControlPlane } from './retained-control-plane.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';

const spec = { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } };

/** The retained data of a control plane with the UID `former`, which may have adopted that of another one before. */
const retained = (over: { owner?: string; adopterUID?: string; record?: string } = {}): RetainedControlPlane => {
  const { owner, adopterUID } = over;
  const storage = { dataStoreName: 'eu', setup: { schema: 'a', user: 'a' }, owner };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'RetainedControlPlane',
    metadata: storedMeta({ name: 'team.prod', uid: 'own' }),
    spec: {
      formerUID: 'former',
      record: over.record ?? JSON.stringify({ spec, status: { storage } }),
      ...(adopterUID !== undefined && { adopterUID }),
    },
  };
};

const tenant = (uid: string, owner?: string): TenantControlPlane => {
  const { metadata, ...rest } = tenantControlPlaneWith({ metadata: { namespace: 'team', name: 'prod' } });
  const status = { storage: { dataStoreName: 'eu', setup: { schema: 'a', user: 'a' }, owner } };
  return { ...rest, metadata: { ...metadata, uid }, status };
};

test('data belongs to its own control plane, or to the one whose data was adopted', () => {
  expect([dataOwner(tenant('a')), dataOwner(tenant('a', 'former'))]).toEqual(['a', 'former']);
});

describe('Retained data', () => {
  test('was adopted by a control plane that has recorded its owner', () => {
    expect(hasAdopted(retained(), tenant('b', 'former'))).toBe(true);
    expect(hasAdopted(retained({ owner: 'first' }), tenant('b', 'first'))).toBe(true);
  });

  test('was not adopted by one with data of its own, or with that of another one', () => {
    expect(hasAdopted(retained(), tenant('b'))).toBe(false);
    expect(hasAdopted(retained(), tenant('b', 'other'))).toBe(false);
  });

  test('was adopted by the one that released it only if that is named', () => {
    expect(hasAdopted(retained(), tenant('former', 'former'))).toBe(false);
    expect(hasAdopted(retained({ adopterUID: 'former' }), tenant('former', 'former'))).toBe(true);
  });

  test('that cannot be read counts as not adopted', () => {
    expect(hasAdopted(retained({ record: '{' }), tenant('b', 'former'))).toBe(false);
  });

  test('was not adopted by a control plane that has no data', () => {
    const empty = { ...tenant('b', 'former'), status: { storage: { owner: 'former' } } };
    expect(hasAdopted(retained(), empty)).toBe(false);
  });
});
