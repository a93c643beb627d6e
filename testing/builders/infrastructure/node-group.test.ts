import { describe, expect, test } from '@jest/globals';
import { readNodeGroup } from './node-group.ts';

const size = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group';
const capacity = 'capacity.cluster-autoscaler.kubernetes.io';

describe('A node group', () => {
  test('has its bounds, and the capacity of a node with 110 pods unless it says otherwise', () => {
    const annotations = {
      ...{ [`${size}-min-size`]: '1', [`${size}-max-size`]: '4' },
      ...{ [`${capacity}/cpu`]: '1500m', [`${capacity}/memory`]: '2G' },
    };
    expect(readNodeGroup(annotations)).toEqual({
      ...{ minimum: 1, maximum: 4 },
      capacity: { cpu: 1.5, memory: 2e9, pods: 110 },
    });
    expect(readNodeGroup({ ...annotations, [`${capacity}/maxPods`]: '30' }).capacity?.pods).toBe(30);
  });

  test.each([['cpu'], ['memory']])('without %s is not known before it has a node', (missing) => {
    const annotations = { [`${capacity}/cpu`]: '2', [`${capacity}/memory`]: '4Gi', [`${capacity}/${missing}`]: '' };
    expect(readNodeGroup(annotations)).toEqual({ minimum: 0, maximum: 0 });
  });

  test.each([
    [{ [`${size}-min-size`]: '3', [`${size}-max-size`]: '2' }, 'max-size is below'],
    [{ [`${size}-max-size`]: 'many' }, 'max-size is "many", which is no whole number'],
    [{ [`${capacity}/cpu`]: 'two' }, 'cpu is "two", which is no quantity'],
  ])('with %j is refused', (annotations, reason) => {
    expect(() => readNodeGroup(annotations)).toThrow(reason);
  });
});
