import type { Resource } from '../../../../api/meta.ts';
import type { WaitCondition } from '../../../sources/cluster-addon-config.ts';
import type { ApplyTarget } from './apply-objects.ts';
import { addonNamespace } from './apply-objects.ts';
import type { ConditionVerdict } from '../stages/stage-condition.ts';
import { evaluateCondition } from '../stages/stage-condition.ts';

/** The most that the objects of one condition may hold together, in characters of JSON. */
const mostCharacters = 2 * 1024 * 1024;

/** Reads the objects of a condition from the workload cluster and evaluates it; without a condition it is met. */
export async function evaluate(condition: WaitCondition | undefined, target: ApplyTarget): Promise<ConditionVerdict> {
  if (condition === undefined) return { is: 'holds' };
  const found = await Promise.all(
    condition.objects.map(async (object) => [object.key, await read(object, target)] as const),
  );
  const objects = new Map(found.flatMap(([key, object]) => (object === undefined ? [] : [[key, object] as const])));
  if (JSON.stringify([...objects.values()]).length > mostCharacters) {
    return { is: 'waits', message: 'the objects of the condition are too large to evaluate' };
  }
  return evaluateCondition(condition, objects);
}

async function read(
  { apiVersion, kind: name, ...object }: WaitCondition['objects'][number],
  { cluster, discovery, signal }: ApplyTarget,
): Promise<Resource | undefined> {
  const kind = await discovery.kindOf({ apiVersion, kind: name });
  if (kind === undefined) return undefined;
  const namespace = object.namespace ?? addonNamespace;
  return cluster.get(kind, kind.namespaced ? { name: object.name, namespace } : { name: object.name }, { signal });
}
