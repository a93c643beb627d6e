import { describe, expect, test } from '@jest/globals';
import type { DraftOf } from '../../../api/meta.ts';
import { storedMeta } from '../../../api/as-stored.ts';
import type { PodDisruptionBudget } from '../../../api/core/kinds.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { foreignBudgets, podDisruptionBudget } from './pod-disruption-budget.ts';

const made = (replicas: number): readonly DraftOf<PodDisruptionBudget>[] =>
  podDisruptionBudget(tenantControlPlaneWith({ deployment: { replicas } }));

describe('The PodDisruptionBudget', () => {
  test.each([2, 3, 5])('allows to evict one of %d pods at a time, and any that is not ready', (replicas) => {
    expect(made(replicas).map(({ spec }) => spec)).toEqual([
      {
        maxUnavailable: 1,
        selector: { matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' } },
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    ]);
  });

  test.each([0, 1])('does not exist for %d pods, so that no drain waits forever', (replicas) => {
    expect(made(replicas)).toEqual([]);
  });
});

describe('A PodDisruptionBudget that Steward did not create', () => {
  const tcp = tenantControlPlaneWith();
  const labels = { team: 'a', 'steward.butlerlabs.dev/name': 'tenant' };
  const budget = (spec: PodDisruptionBudget['spec'], metadata: object = {}): PodDisruptionBudget => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: storedMeta({ name: 'theirs', ...metadata }),
    spec,
  });

  test.each([
    ['the label of the pods', { selector: { matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' } } }],
    ['a label that the author added', { selector: { matchLabels: { team: 'a' } } }],
    ['everything', { selector: {} }],
  ])('counts if it selects %s', (_what, spec) => {
    expect(foreignBudgets(tcp, labels, [budget(spec)])).toEqual(['theirs']);
  });

  test.each([
    ['another tenant', budget({ selector: { matchLabels: { 'steward.butlerlabs.dev/name': 'other' } } })],
    ['nothing', budget({})],
    ['the pods but goes away', budget({ selector: {} }, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    [
      'the pods and is ours',
      budget({ selector: {} }, { ownerReferences: [{ uid: tcp.metadata.uid, kind: '', name: '', apiVersion: '' }] }),
    ],
  ])('does not count if it selects %s', (_what, other) => {
    expect(foreignBudgets(tcp, labels, [other])).toEqual([]);
  });
});
