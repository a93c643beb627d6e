import { expect, test } from '@jest/globals';
import { kinds } from '../api/core/kinds.ts';
import type { Manifest } from '../api/meta.ts';
import { identityOf } from '../runtime/object-id.ts';
import { Expectations } from './expectations.ts';

const map: Manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };

test('an object as it was before our own write is nobody else’s doing, and one after it is', () => {
  const expectations = new Expectations();
  const answer = { ...map, metadata: { ...map.metadata, uid: 'u', resourceVersion: '10' } };
  expectations.set({
    component: 'dns',
    manifests: [map],
    applied: [answer],
    createOnly: [],
    kindOf: () => kinds.ConfigMap,
  });
  const judged = (resourceVersion: string): string | undefined =>
    expectations.judge({ identity: identityOf(map), isGone: false, metadata: { uid: 'u', resourceVersion } });
  expect([judged('9'), judged('10'), judged('11')]).toEqual([undefined, undefined, 'dns']);
});
