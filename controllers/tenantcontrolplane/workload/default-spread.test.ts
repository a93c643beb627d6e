import { describe, expect, test } from '@jest/globals';
import type { Deployment } from '../../../api/core/kinds.ts';
import { defaultSpread } from './default-spread.ts';

const selector = { 'steward.butlerlabs.dev/name': 'tenant' };
const image = 'registry.k8s.io/kube-apiserver:v1.36.3';

const standing = (running: string, topologySpreadConstraints?: object[]): Deployment =>
  ({
    spec: {
      template: { spec: { containers: [{ name: 'kube-apiserver', image: running }], topologySpreadConstraints } },
    },
  }) as unknown as Deployment;

describe('Pods whose author sets no topology spread', () => {
  test('are spread over nodes if possible, each generation by itself', () => {
    expect(defaultSpread({ selector, image, present: undefined })).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: selector },
        matchLabelKeys: ['pod-template-hash'],
      },
    ]);
  });

  test('stay spread', () => {
    const wanted = defaultSpread({ selector, image, present: undefined });
    expect(defaultSpread({ selector, image, present: standing(image, [...wanted]) })).toEqual(wanted);
  });

  test('that run without it are not replaced for it', () => {
    expect(defaultSpread({ selector, image, present: standing(image) })).toEqual([]);
    expect(defaultSpread({ selector, image, present: standing(image, []) })).toEqual([]);
  });

  test('that run without it get it with their next version', () => {
    const present = standing('registry.k8s.io/kube-apiserver:v1.35.4');
    expect(defaultSpread({ selector, image, present })).toHaveLength(1);
  });
});
