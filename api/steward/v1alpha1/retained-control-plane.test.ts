import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../as-stored.ts';
import type { Key } from '../../meta.ts';
import { formerKey, retainedControlPlane, retainedKey } from './retained-control-plane.ts';

const label = fc.stringMatching(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
const resource = (key: Key) => ({ apiVersion: '', kind: '', metadata: storedMeta(key) });

test('each TenantControlPlane has its own name of a record, from which its key can be read', () => {
  fc.assert(
    fc.property(label, label, (namespace, name) => {
      expect(formerKey(resource(retainedKey(resource({ namespace, name }))))).toEqual({ namespace, name });
    }),
  );
});

test('a record without a dot in its name belongs to no TenantControlPlane that can exist', () => {
  expect(formerKey(resource({ name: 'prod' }))).toEqual({ namespace: '', name: 'prod' });
});

test('a record has no namespace, so permissions in a namespace do not include it', () => {
  expect(retainedControlPlane.namespaced).toBe(false);
});
