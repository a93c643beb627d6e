import { classOf } from '../../../api/cluster-api/class-of.ts';
import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { pausedAnnotation, watchFilterLabel } from '../../../api/cluster-api/names.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStack } from '../../api/cluster-stack.ts';
import type { ClusterStack } from '../../api/cluster-stack.ts';
import { clusterStackLabels } from '../../api/names.ts';
import type { Key, Resource } from '../../../api/meta.ts';
import type { Controller, ReconcileResult, Watch } from '../../../runtime/reconcile/controller.ts';
import { resultOf } from '../../../runtime/reconcile/result-of.ts';
import { runPhases } from '../../../runtime/reconcile/run-phases.ts';
import { releasesInUse } from '../../sources/releases-in-use.ts';
import { access } from './access.ts';
import type { Dependencies } from './dependencies.ts';
import { phasesOf } from './phases.ts';
import { statusOf } from './status.ts';

/** Keeps the releases of each ClusterStack: those that are wanted or in use, and no others. */
export function clusterStackController(deps: Dependencies): Controller<ClusterStack> {
  const phases = phasesOf(deps);
  return {
    name: 'clusterstack',
    kind: clusterStack,
    access,
    concernsMany: true,
    watches: watchesOf(deps),
    serves: ({ metadata }) => deps.watchFilter === '' || metadata.labels?.[watchFilterLabel] === deps.watchFilter,
    paused: ({ metadata }) =>
      metadata.annotations?.[pausedAnnotation] === undefined ? undefined : `the annotation ${pausedAnnotation} is set`,
    async reconcile(stack, ctx): Promise<ReconcileResult<ClusterStack>> {
      const { namespace } = stack.metadata;
      const { items } = await deps.cluster.list(clusterStackRelease, { namespace, signal: ctx.signal });
      const owned = items.filter(({ metadata }) =>
        metadata.ownerReferences?.some(({ uid }) => uid === stack.metadata.uid),
      );
      const inUse = namesIn(namespace, releasesInUse(deps.clusters(), deps.classes()));
      const report = await runPhases(phases, { stack, owned, inUse }, ctx);
      return { status: statusOf(stack, report, ctx.now), ...resultOf(report) };
    },
  };
}

/** The releases of one namespace. */
function namesIn(namespace: string, use: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const prefix = `${namespace}/`;
  return new Set([...use.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)));
}

function watchesOf(deps: Dependencies): readonly Watch[] {
  const keysOfNamespace = (namespace: string): readonly Key[] =>
    deps.stacks(namespace).map(({ metadata: { name } }) => ({ namespace, name }));
  const ofCluster: Watch<CapiCluster> = {
    kind: capiCluster,
    optional: true,
    keys: (old, now) => {
      const [before, after] = [old, now].map((one) => (one === undefined ? undefined : classOf(one)));
      if (before?.namespace === after?.namespace && before?.name === after?.name) return [];
      const namespaces = new Set([before, after].flatMap((key) => key?.namespace ?? []));
      return [...namespaces].flatMap(keysOfNamespace);
    },
  };
  return [
    { kind: clusterStackRelease, keys: ownersOf },
    ofCluster,
    {
      kind: capiClusterClass,
      labelSelector: clusterStackLabels.release,
      metadataOnly: true,
      optional: true,
      // Only which release a class is of matters, and that never changes; it is read when a stack is reconciled.
      keys: () => [],
    },
  ];
}

function ownersOf(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const { namespace = '' } = (now ?? old)?.metadata ?? {};
  const names = [old, now]
    .flatMap((one) => one?.metadata.ownerReferences ?? [])
    .filter(({ kind }) => kind === clusterStack.kind)
    .map(({ name }) => name);
  return [...new Set(names)].map((name) => ({ namespace, name }));
}
