import { expect, test } from '@jest/globals';
import type { PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import type { ContractCluster } from './contract-cluster.ts';
import { capiVersion, conditionOf } from './contract-cluster.ts';
import { isPaused } from './pausing.ts';
import type { Stage } from './stage.ts';

/** Clusters that come to their end here, each in its way. */
export interface Doomed {
  /** Has workers. */
  readonly plain: () => ContractCluster;
  /** Its API server cannot be reached anymore. */
  readonly unreachable: () => ContractCluster;
  /** What the provider made for it is gone. */
  readonly bare: () => ContractCluster;
  /** It is paused while it is deleted. */
  readonly resting: () => ContractCluster;
}

/** Rule: a control plane is deleted after its workers, unless it is paused, and even if other things are broken. */
export function deletion({ plain, unreachable, bare, resting }: Doomed, stage: () => Stage): void {
  const remove = (found: ContractCluster): Promise<void> => stage().management.client.delete(found.cluster);
  const gone = async (found: ContractCluster): Promise<void> => {
    await found.gone(found.cluster);
    expect(await stage().management.client.read(found.controlPlane)).toBeUndefined();
    for (const purpose of ['kubeconfig', 'ca']) await found.gone(found.secret(purpose));
  };

  test('A control plane that is deleted waits for the workers, and serves them meanwhile', async () => {
    const found = plain();
    await stage().management.client.delete(found.controlPlane);
    const waiting = await found.until(
      found.controlPlane,
      'waiting for workers',
      (object) => object !== undefined && conditionOf(object, 'Deleting')?.reason === 'WaitingForWorkersDeletion',
    );
    expect(waiting.metadata?.deletionTimestamp).toBeDefined();
    expect(await (await found.workload()).list('v1', 'Node')).toHaveLength(1);
    await remove(found);
    await gone(found);
    expect(await stage().management.client.list(capiVersion, 'Machine', found.namespace)).toEqual([]);
  });

  test('A control plane is deleted although nobody can reach its API server', async () => {
    const found = unreachable();
    await stage().hosting.cutOff(found.hosted);
    await remove(found);
    await gone(found);
  });

  test('A control plane is deleted although its objects are gone already', async () => {
    const found = bare();
    // If it were deleted without the Cluster, it would be created again.
    await found.merge(found.controlPlane, { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } });
    await found.until(found.controlPlane, 'Paused', isPaused('True'));
    await remove(found);
    await found.until(found.controlPlane, 'being deleted', isBeingDeleted);
    await stage().hosting.takeAway(found.hosted);
    await found.merge(found.controlPlane, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    await gone(found);
  });

  test('A control plane that is deleted while it is paused is gone only after it is resumed', async () => {
    const found = resting();
    await found.merge(found.controlPlane, { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } });
    await found.until(found.controlPlane, 'Paused', isPaused('True'));
    await remove(found);
    await found.until(
      found.controlPlane,
      'Paused, with the deletion seen',
      (object) => isBeingDeleted(object) && isPaused('True')(object),
    );
    await found.merge(found.controlPlane, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    await gone(found);
  });
}

const isBeingDeleted = (object: PlainObject | undefined): boolean => object?.metadata?.deletionTimestamp !== undefined;
