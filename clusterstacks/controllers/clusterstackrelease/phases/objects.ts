import type { ClusterStackRelease } from '../../../api/cluster-stack-release.ts';
import { clusterStackFieldManager } from '../../../api/names.ts';
import { labels } from '../../../../api/names.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { Applier } from '../../../../runtime/apply/applier.ts';
import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import { definitionOutdatedText } from '../../../../runtime/reconcile/definition-outdated.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import { RetryError } from '../../../../runtime/client/errors.ts';
import { refusalReasons } from '../../../../runtime/client/explain-refusal.ts';
import { describe, keyOf } from '../../../../runtime/cache/object-id.ts';
import type { ObjectSlot } from '../../../../runtime/cache/object-slot.ts';
import type { Outcome, Phase } from '../../../../runtime/reconcile/phases.ts';
import type { RefusedManifest } from '../components/release-manifests.ts';
import { releaseManifests } from '../components/release-manifests.ts';
import type { Renderings } from '../../../sources/generated-parts.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ObjectWatches } from '../object-watches.ts';
import type { RenderedReleases } from '../rendered-releases.ts';
import { keepGenerated } from '../keep-generated.ts';
import { resourceOf } from '../resource-of.ts';
import type { Scope } from '../scope.ts';
import { whyForeign } from '../whose-object.ts';

const component = 'cluster-class';
const kindAgainMs = 20_000;
const refusedAgainMs = 60_000;
const definitionAgainMs = 60_000;
const renderAgainMs = 600_000;
/** Drift that no watch reports, such as of a kind that may not be watched, is found after this time. */
const driftMs = 600_000;

/** Applies ClusterClass and templates as the chart of the pinned files describes them, and reverts drift. */
export function objectsPhase(
  deps: Dependencies,
  {
    watches,
    rendered,
    unpinned,
  }: {
    readonly watches: ObjectWatches;
    readonly rendered: RenderedReleases;
    /** UIDs of releases of which the API server does not keep the digest. */
    readonly unpinned: Pick<ObjectSlot<true>, 'has'>;
  },
): Phase<Scope> {
  const applier = new Applier({
    cluster: deps.cluster,
    fieldManager: clusterStackFieldManager,
    marking: { by: 'ownerReference', componentLabel: labels.component },
    kinds: [],
    memory: deps.memory.slot('applied for releases'),
    lookup: (kind, key) => watches.seen(kind, key),
    foreign: (object, { owner }) => whyForeign(object, owner as ClusterStackRelease),
    metrics: deps.metrics,
  });
  return {
    name: 'objects',
    condition: 'HelmChartApplied',
    needs: ['assets', 'provider'],
    run: async (scope, ctx) => {
      if (scope.release.status?.digest === undefined) {
        if (unpinned.has(scope.release.metadata.uid)) {
          const message = definitionOutdatedText('ClusterStackRelease', ['status.digest']);
          return { is: 'waiting', reason: 'DefinitionOutdated', message, afterMs: definitionAgainMs };
        }
        const message = 'recording the digest first, so that a restart continues with the same files';
        return { is: 'waiting', reason: 'ObjectsApplyingOngoing', message, afterMs: 1 };
      }
      let renderings: Renderings;
      try {
        renderings = await renderedOf(deps, rendered, scope, ctx);
      } catch (error) {
        ctx.signal.throwIfAborted();
        const message = `the chart of the ClusterClass cannot be rendered: ${messageOf(error)}`;
        return { is: 'waiting', reason: 'TemplateFailed', message, afterMs: renderAgainMs };
      }
      return keep({ deps, applier, watches }, scope, { renderings, ctx });
    },
  };
}

function renderedOf(
  { renderer }: Dependencies,
  rendered: RenderedReleases,
  { release, assets, parts, namespace }: Readonly<Scope>,
  { signal }: Context,
): Promise<Renderings> {
  if (assets === undefined || parts === undefined) throw new Error('the assets have not been loaded');
  const request = {
    chart: assets.clusterClassChart,
    // The chart names its ClusterClass after it.
    releaseName: `${parts.stack}-${parts.kubernetesVersion.replace('.', '-')}`,
    namespace,
    kubernetesVersion: assets.metadata.kubernetes,
    requester: keyOf(release),
  };
  return rendered.of(release.metadata.uid, assets.digest, () => renderer.render(request, signal));
}

interface Tools {
  readonly deps: Dependencies;
  readonly applier: Applier;
  readonly watches: ObjectWatches;
}

async function keep(
  { deps, applier, watches }: Tools,
  scope: Readonly<Scope>,
  { renderings, ctx }: { readonly renderings: Renderings; readonly ctx: Context },
): Promise<Outcome<Scope>> {
  const { release, name, namespace, parts } = scope;
  const manifests = [...renderings.stable, ...renderings.generated];
  const found = await Promise.all(
    manifests.map(async (manifest) => ({
      manifest,
      kind: await deps.discovery.find(manifest.apiVersion, manifest.kind, { signal: ctx.signal }),
    })),
  );
  const unknown = found.filter(({ kind }) => kind === undefined).map(({ manifest }) => manifest);
  if (unknown.length > 0) {
    scope.note(
      manifests.map((manifest) =>
        resourceOf(manifest, unknown.includes(manifest) ? 'its kind is not installed' : 'waiting for other kinds'),
      ),
    );
    const types = [...new Set(unknown.map(({ apiVersion, kind }) => `${kind} (${apiVersion})`))].sort().join(', ');
    const message = `the cluster does not serve ${types}: install the provider that defines them`;
    return { is: 'waiting', reason: 'ObjectsApplyingOngoing', message, afterMs: kindAgainMs };
  }
  const known = found.flatMap(({ manifest, kind }) => (kind === undefined ? [] : [{ manifest, kind }]));
  const made = releaseManifests({
    rendered: known,
    release: name,
    namespace,
    stack: parts?.stack ?? '',
    furtherKinds: deps.furtherKinds,
  });
  const prunes = await kindsOf(deps, scope, known, ctx);
  for (const kind of prunes) watches.follow(kind);
  const kindOf = ({ apiVersion, kind: named }: Manifest): KindRef | undefined =>
    known.find(({ manifest }) => manifest.apiVersion === apiVersion && manifest.kind === named)?.kind;
  const sent = await keepGenerated(
    deps.cluster,
    { release, manifests: made.manifests, renderings, kindOf },
    ctx.signal,
  );
  const set = { owner: release, component, ...sent, prunes };
  let failure: unknown;
  try {
    const { drifted, pruned } = await applier.apply(set, { signal: ctx.signal });
    for (const object of drifted)
      ctx.event('Warning', 'DriftRepaired', `restored ${describe(object)}, which someone else had changed`);
    for (const object of pruned)
      ctx.event('Normal', 'ObjectRemoved', `removed ${describe(object)}, which is no longer part of the release`);
  } catch (error) {
    ctx.signal.throwIfAborted();
    failure = error;
  }
  return evaluate(scope, made, failure);
}

/** Kinds that the release has objects of, or had. */
async function kindsOf(
  { discovery }: Dependencies,
  { release }: Readonly<Scope>,
  known: readonly { readonly kind: KindRef }[],
  { signal }: Context,
): Promise<readonly KindRef[]> {
  const before = (release.status?.resources ?? []).map(({ group = '', version = '', kind = '' }) =>
    discovery.find(group === '' ? version : `${group}/${version}`, kind, { signal }),
  );
  const all = [...known.map(({ kind }) => kind), ...(await Promise.all(before)).flatMap((kind) => kind ?? [])];
  return [...new Map(all.map((kind) => [`${kind.group} ${kind.plural}`, kind])).values()];
}

const isForeign = (error: unknown): boolean =>
  error instanceof RetryError && error.reason === refusalReasons.ownedByAnother;

function evaluate(
  { note }: Readonly<Scope>,
  { manifests, refused }: { readonly manifests: readonly Manifest[]; readonly refused: readonly RefusedManifest[] },
  failure: unknown,
): Outcome<Scope> {
  const errors =
    failure instanceof AggregateError ? (failure.errors as readonly unknown[]) : failure === undefined ? [] : [failure];
  const texts = errors.map(messageOf);
  const errorOf = (manifest: Manifest): string | undefined =>
    texts.find((text) => text.includes(`${describe(manifest)}:`) || text.includes(`${describe(manifest)} `));
  note([
    ...manifests.map((manifest) => resourceOf(manifest, errorOf(manifest))),
    ...refused.map(({ manifest, why }) => resourceOf(manifest, why)),
  ]);
  const all = [...texts, ...refused.map(({ manifest, why }) => `${describe(manifest)}: ${why}`)];
  if (all.length === 0) return { is: 'done', afterMs: driftMs };
  if (refused.length === 0 && errors.every(isForeign)) {
    return { is: 'waiting', reason: refusalReasons.ownedByAnother, message: all.join('; '), afterMs: refusedAgainMs };
  }
  return { is: 'waiting', reason: 'FailedToApplyObjects', message: all.join('; '), afterMs: refusedAgainMs };
}
