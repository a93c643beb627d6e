import { numberOf } from '../../../api/quantity.ts';

/** A node group as a cluster-autoscaler sees it. */
export interface NodeGroup {
  readonly minimum: number;
  readonly maximum: number;
  /** What a node of it has; undefined: a group without nodes stays without. Memory in bytes. */
  readonly capacity?: { readonly cpu: number; readonly memory: number; readonly pods: number };
}

const groupPrefix = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-';
const capacityPrefix = 'capacity.cluster-autoscaler.kubernetes.io/';

/**
 * Reads annotations of a MachineDeployment as the provider `clusterapi` of cluster-autoscaler does: without either bound the bound is 0,
 * a maximum below the minimum is refused, and a node is known from its CPU and its memory together, with 110 pods unless said otherwise
 * (https://github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/clusterapi). Throws an error that names the annotation.
 */
export function readNodeGroup(annotations: Readonly<Record<string, string>>): NodeGroup {
  const [minimum, maximum] = ['min-size', 'max-size'].map((bound) => whole(annotations, `${groupPrefix}${bound}`, 0));
  if (minimum === undefined || maximum === undefined || maximum < minimum) {
    throw new Error(`${groupPrefix}max-size is below ${groupPrefix}min-size`);
  }
  const cpu = amount(annotations, 'cpu');
  const memory = amount(annotations, 'memory');
  if (cpu === 0 || memory === 0) return { minimum, maximum };
  return { minimum, maximum, capacity: { cpu, memory, pods: whole(annotations, `${capacityPrefix}maxPods`, 110) } };
}

function whole(annotations: Readonly<Record<string, string>>, name: string, otherwise: number): number {
  const text = annotations[name];
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new Error(`${name} is ${JSON.stringify(text)}, which is no whole number`);
  return Number(text);
}

function amount(annotations: Readonly<Record<string, string>>, resource: string): number {
  const name = `${capacityPrefix}${resource}`;
  const text = annotations[name] ?? '';
  if (text === '') return 0;
  const value = numberOf(text);
  if (value === undefined) throw new Error(`${name} is ${JSON.stringify(text)}, which is no quantity`);
  return value;
}
