import { beforeEach, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { applyExactly } from './apply-exactly.ts';

const options = { fieldManager: 'example' };
const key = { name: 'deny' };
const kind = kinds.ValidatingAdmissionPolicyBinding;
const manifest: Manifest = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: kind.kind,
  metadata: key,
  spec: { policyName: 'deny', matchResources: { namespaceSelector: {} }, validationActions: ['Deny'] },
};
/** Added to the manifest: with it, the policy applies to nothing. */
const addition = {
  matchResources: { objectSelector: { matchLabels: { never: 'true' } } },
  paramRef: { name: 'theirs' },
};

let cluster: FakeCluster;
beforeEach(() => {
  cluster = new FakeCluster();
});
const patches = (): number => cluster.calls.filter(({ verb }) => verb === 'patch').length;

describe('What is applied exactly', () => {
  test('costs one request while nobody adds to it', async () => {
    const object = await applyExactly(cluster, { kind, manifest }, options);
    expect(object.spec).toEqual(manifest.spec);
    await applyExactly(cluster, { kind, manifest }, options);
    expect(patches()).toBe(0);
  });

  test('loses what others have added, also in fields of maps that are not in the manifest', async () => {
    await applyExactly(cluster, { kind, manifest }, options);
    const body = { spec: addition };
    await cluster.admin.patch(kind, key, { type: 'merge', body }, { fieldManager: 'somebody' });
    const object = await applyExactly(cluster, { kind, manifest }, options);
    expect(object.spec).toEqual(manifest.spec);
    expect((await cluster.admin.get(kind, key))?.spec).toEqual(manifest.spec);
  });

  test('keeps labels and annotations of others', async () => {
    await applyExactly(cluster, { kind, manifest }, options);
    const body = { metadata: { labels: { theirs: 'yes' } }, spec: addition };
    await cluster.admin.patch(kind, key, { type: 'merge', body }, { fieldManager: 'somebody' });
    const object = await applyExactly(cluster, { kind, manifest }, options);
    expect(object.metadata.labels).toEqual({ theirs: 'yes' });
    expect(object.spec).toEqual(manifest.spec);
  });
});
