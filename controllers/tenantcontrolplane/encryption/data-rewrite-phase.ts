import { kinds } from '../../../api/core/kinds.ts';
import { componentChecksumLabel } from '../../../api/names.ts';
import type { EncryptionStatus } from '../../../api/steward/v1alpha1/encryption-status.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { deadline } from '../../../runtime/deadline.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { podSelectorText } from '../shared/pod-selector.ts';
import { wantedReplicas } from '../shared/replicas.ts';
import { isRolling } from '../shared/state.ts';
import { without } from '../shared/without.ts';
import { putOff } from '../upgrade/writes-in-tenant.ts';
import type { EncryptionFacts } from './encryption-facts.ts';
import { encryptionComponent } from './encryption-secret.ts';
import { findingsBefore } from './encryption-status.ts';
import type { EncryptionFindings } from './encryption-status.ts';
import { nextState, staleResources } from './next-state.ts';
import { rewritePage, servedKind } from './rewrite-page.ts';
import type { Page } from './rewrite-page.ts';
import { wantedEncryption } from './wanted-encryption.ts';

/**
 * A page is written again for each reconcile, with a pause after it: the API server of a tenant has other work to do, and so has the
 * manager.
 */
const pace = { pageMs: 8_000, pauseMs: 1_000, refusedMs: 30_000 } as const;

/** The API server of a tenant may send any response, of any length. */
const longestToken = 4096;

/** The Deployment does not count terminating pods, and no watch reports their end. */
const leavingMs = 2_000;

/** Why not all API servers have the present configuration; undefined when they have. */
async function unsettled(
  { tcp, deployment }: Readonly<Scope>,
  { checksum }: EncryptionFacts,
  { deps, ctx }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<string | undefined> {
  if (isRolling(deployment, wantedReplicas(tcp, deployment))) return 'pods are being replaced';
  const { items } = await deps.cluster.list(kinds.Pod, {
    namespace: tcp.metadata.namespace,
    labelSelector: podSelectorText(tcp),
    signal: ctx.signal,
  });
  const left = items.filter(
    ({ status, metadata }) =>
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed' &&
      metadata.labels?.[componentChecksumLabel(encryptionComponent)] !== checksum,
  );
  return left.length === 0 ? undefined : `pods with another configuration are still there: ${left.length}`;
}

/** Where a rewrite is after a page. */
function after(
  before: NonNullable<EncryptionStatus['rewriting']>,
  { objects, next }: Page,
  all: readonly string[],
): EncryptionStatus['rewriting'] {
  const count = before.objects + objects;
  if (next !== undefined && next.length > longestToken)
    throw new Error('the API server of the tenant returned a continue token that is too long');
  // An empty one begins the resource again.
  if (next === '') return { resource: before.resource, objects: count };
  if (next !== undefined) return { resource: before.resource, continue: next, objects: count };
  const following = all[all.indexOf(before.resource) + 1];
  return following === undefined ? undefined : { resource: following, objects: count };
}

/** Writes the next page of objects again. */
async function rewrite(
  scope: Readonly<Scope>,
  { state }: EncryptionFacts,
  before: EncryptionFindings,
  { deps, ctx }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<{ readonly findings: EncryptionFindings; readonly afterMs: number }> {
  const all = staleResources(state);
  const present = before.rewriting;
  const at = present !== undefined && all.includes(present.resource) ? present : { resource: all[0] ?? '', objects: 0 };
  const client = deps.tenants.client(scope);
  const limit = deadline(deps.clock, pace.pageMs, [ctx.signal]);
  const plain = without(before, 'message', 'rewriting');
  try {
    const kind = await servedKind(client, at.resource, limit.signal);
    const page: Page = kind === undefined ? { objects: 0 } : await rewritePage(client, kind, at.continue, limit.signal);
    if (page.refused !== undefined)
      return { findings: { ...plain, rewriting: at, message: page.refused }, afterMs: pace.refusedMs };
    const rewriting = after(at, page, all);
    if (rewriting !== undefined) return { findings: { ...plain, rewriting }, afterMs: pace.pauseMs };
    ctx.event('Normal', 'DataRewritten', `${at.objects + page.objects} objects were rewritten`);
    const lastRewriteTime = ctx.now.toISOString().replace(/\.\d{3}Z$/, 'Z');
    return { findings: { ...plain, rewritten: true, lastRewriteTime }, afterMs: 1 };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (!limit.signal.aborted) throw error;
    // What was rewritten is not rewritten again: each attempt gets further in the page.
    const message = `the API server of the tenant did not answer within ${pace.pageMs / 1000} s`;
    return { findings: { ...plain, rewriting: at, message }, afterMs: pace.pauseMs };
  } finally {
    limit.release();
  }
}

/**
 * Finds out whether all API servers have the present configuration, and then has them write objects again that are stored with another
 * provider. It is only recorded here; the next reconcile acts upon it.
 */
export async function dataRewrite(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const facts = scope.encryption;
  if (facts === undefined || facts.state.revision === 0) return { is: 'done' };
  const before = findingsBefore(scope.tcp.status?.encryption, facts);
  const learn = (encryptionFindings: EncryptionFindings, afterMs?: number, hasMore = false): Outcome<Scope> => ({
    is: 'done',
    learned: { encryptionFindings },
    ...(afterMs !== undefined && { afterMs }),
    ...(hasMore && { hasMore }),
  });
  const migrates = isUnderWay(scope.tcp.status?.storage?.migration);
  const later = migrates ? 'waiting for the migration of the data to finish' : putOff(scope);
  if (later !== undefined) return before.distributed ? learn(before) : learn({ ...before, message: later });
  if (!before.distributed) {
    const waits = await unsettled(scope, facts, { deps, ctx });
    if (waits !== undefined) return learn({ ...before, message: waits }, leavingMs);
    return learn({ ...without(before, 'message'), distributed: true }, 1, true);
  }
  const wanted = wantedEncryption(scope.tcp.spec.kubernetes.encryption);
  const next = nextState(facts.state, wanted, { distributed: true, rewritten: before.rewritten === true });
  const isLeft = staleResources(facts.state).length > 0 && before.rewritten !== true;
  // Another configuration comes first, unless it cannot be determined.
  if (!isLeft || (next.revision !== facts.state.revision && facts.trouble === undefined)) return learn(before);
  const { findings, afterMs } = await rewrite(scope, facts, before, { deps, ctx });
  return learn(findings, afterMs, findings.message === undefined);
}
