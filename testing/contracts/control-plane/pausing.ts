import { expect, test } from '@jest/globals';
import type { PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import type { ContractCluster } from './contract-cluster.ts';
import { conditionOf } from './contract-cluster.ts';

const annotation = 'cluster.x-k8s.io/paused';

/** Whether it reports that it is paused, or not, for its newest generation. */
export const isPaused =
  (status: 'True' | 'False') =>
  (object: PlainObject | undefined): boolean => {
    const condition = object === undefined ? undefined : conditionOf(object, 'Paused');
    const { observedGeneration } = (condition ?? {}) as { observedGeneration?: number };
    return condition?.status === status && observedGeneration === object?.metadata?.generation;
  };

/** Rule: a control plane is not reconciled while its Cluster or itself is paused, reports that, and continues by itself. */
export function pausing(plain: () => ContractCluster): void {
  test.each([
    ['its Cluster', (found: ContractCluster, on: boolean) => found.merge(found.cluster, { spec: { paused: on } })],
    [
      'an annotation',
      (found: ContractCluster, on: boolean) =>
        found.merge(found.controlPlane, { metadata: { annotations: { [annotation]: on ? '' : null } } }),
    ],
  ] as const)('Paused by %s it does nothing until it is not', async (_, pause) => {
    const found = plain();
    const { replicas = 0 } = (await found.read(found.controlPlane)).status as { replicas?: number };
    const wanted = replicas === 1 ? 2 : 1;
    await pause(found, true);
    await found.until(found.controlPlane, 'Paused', isPaused('True'));
    await found.merge(found.controlPlane, { spec: { replicas: wanted } });
    const resting = await found.until(found.controlPlane, 'Paused, with the change seen', isPaused('True'));
    expect(resting.status).toMatchObject({ replicas });
    await pause(found, false);
    await found.until(found.controlPlane, 'being awake', isPaused('False'));
    await found.until(found.controlPlane, 'the change', (object) => object?.status?.readyReplicas === wanted);
  });
}
