import { clusterStack } from '../../../api/cluster-stack.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Phase } from '../../../../runtime/reconcile/phases.ts';
import { sourceOf } from '../../../sources/stack-source.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

const lookAgainMs = 60_000;

/** Finds out where the release comes from: from the source of the stack that owns it. */
export const sourcePhase = ({ cluster, source }: Dependencies): Phase<Scope> => ({
  name: 'source',
  condition: 'AssetsClientAPIAvailable',
  run: async ({ release, namespace }, { signal }) => {
    const owners = (release.metadata.ownerReferences ?? []).filter(({ kind }) => kind === clusterStack.kind);
    const stacks = await Promise.all(
      owners.map(({ name }) => cluster.get(clusterStack, { namespace, name }, { signal })),
    );
    const stack = stacks.find((one) => one !== undefined);
    const found = await sourceOf(stack, source, (key) => cluster.get(kinds.Secret, key, { signal }));
    if ('address' in found) return { is: 'done', learned: { address: found.address } };
    return { is: 'waiting', ...found, afterMs: lookAgainMs };
  },
});
