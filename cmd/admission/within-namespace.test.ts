import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { InformerSelection } from '../../runtime/cache/informer.ts';
import { withinNamespace } from './within-namespace.ts';

/** Records the requested selections. */
function noting(): {
  readonly asked: InformerSelection<Resource>[];
  readonly informers: Pick<InformerFactory, 'informer'>;
} {
  const asked: InformerSelection<Resource>[] = [];
  const informer = ((selection: InformerSelection<Resource>) => {
    asked.push(selection);
    return undefined;
  }) as unknown as InformerFactory['informer'];
  return { asked, informers: { informer } };
}

describe('A manager that is limited to one namespace', () => {
  test('watches namespaced kinds in that namespace only', () => {
    const { asked, informers } = noting();
    const scoped = withinNamespace(informers, 'team');
    for (const kind of [tenantControlPlane, stewardControlPlane, kinds.Secret]) scoped.informer<Resource>({ kind });
    scoped.informer<Resource>({ kind: kinds.Secret, namespace: undefined });
    expect(asked.map(({ namespace }) => namespace)).toEqual(['team', 'team', 'team', 'team']);
  });

  test('watches cluster-scoped kinds everywhere, and referenced objects in their own namespace', () => {
    const { asked, informers } = noting();
    const scoped = withinNamespace(informers, 'team');
    scoped.informer<Resource>({ kind: dataStore });
    scoped.informer<Resource>({ kind: kinds.Secret, namespace: 'steward-system' });
    expect(asked.map(({ namespace }) => namespace)).toEqual([undefined, 'steward-system']);
  });

  test('watches all namespaces if none is given', () => {
    const { informers } = noting();
    expect(withinNamespace(informers, '')).toBe(informers);
  });
});
