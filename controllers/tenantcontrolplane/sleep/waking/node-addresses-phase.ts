import { kinds } from '../../../../api/core/kinds.ts';
import { annotations, tenantObjects } from '../../../../api/names.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import { deadline } from '../../../../runtime/deadline.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';
import { activatorSlice } from './activator-slices.ts';
import { KnownNodes } from './known-nodes.ts';
import { nodeAddressPage, nodesOfPage } from './node-address-page.ts';
import { wakesOnRequest } from './wakes-on-request.ts';

/** The addresses of nodes are not read again before, in milliseconds. */
const freshMs = 10 * 60_000;

/** So long before it falls asleep by its schedule they are read once more, and so often while something delays that, in milliseconds. */
const beforeSleepMs = 60_000;

/** All pages together may take so long, in milliseconds. */
const answersMs = 10_000;

const fact = 'addresses of nodes were read';

/**
 * Notes the addresses of the tenant's nodes at the slice that leads to the activator, while the tenant is awake: calls from there do not
 * wake it up. The tenant is not trusted, but whatever it says concerns its own calls alone.
 */
export async function nodeAddresses(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, activator } = scope;
  if (activator?.port === undefined || !wakesOnRequest(tcp)) return { is: 'done' };
  const { uid, namespace, name } = tcp.metadata;
  const isWanted = tcp.spec.sleep?.wakeOn?.includes('NodeRequest') !== true;
  const now = deps.clock.monotonic();
  const again = { is: 'done', ...beforeSleep(scope, ctx) } as const;
  const [kind, at] = (deps.memory.recall(uid, fact) ?? '').split(' ');
  if (kind === String(isWanted) && now - Number(at) < (scope.sleep?.delayed === undefined ? freshMs : beforeSleepMs))
    return again;
  const found = isWanted ? await read(scope, deps, ctx) : new KnownNodes();
  if (found === undefined) return again;
  const text = found.text();
  if (text !== activator.nodes) {
    const key = { namespace, name: activatorSlice(tenantObjects(name).service, scope.service?.spec?.ipFamilies?.[0]) };
    const body = { metadata: { annotations: { [annotations.nodeAddresses]: text === '' ? null : text } } };
    await deps.cluster.patch(kinds.EndpointSlice, key, { type: 'merge', body }, { signal: ctx.signal });
  }
  if (found.isCut) ctx.event('Warning', 'NodesNotKnown', unknownNodes);
  deps.memory.remember(uid, fact, `${isWanted} ${now}`);
  return again;
}

const unknownNodes =
  'the control plane has more nodes, or more addresses of nodes, than are noted for the activator: calls from the others wake it up';

/**
 * When to read them again before it falls asleep: then nothing else has it reconciled. What delays its sleep may be an upgrade of its workers,
 * which join with other addresses right before it ends.
 */
function beforeSleep({ sleep }: Readonly<Scope>, { now }: Context): { readonly afterMs?: number } {
  if (sleep?.delayed !== undefined) return { afterMs: beforeSleepMs };
  const { state, nextTransitionTime } = sleep?.status ?? {};
  if (state !== 'Awake' || nextTransitionTime === undefined) return {};
  const afterMs = Date.parse(nextTransitionTime) - beforeSleepMs - now.getTime();
  return afterMs > 0 ? { afterMs } : {};
}

/** The addresses of nodes; undefined if they cannot be read now. */
async function read(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<KnownNodes | undefined> {
  const limit = deadline(deps.clock, answersMs, [ctx.signal]);
  try {
    return await pages(deps.tenants.client(scope), limit.signal);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (limit.signal.aborted || error instanceof ApiError || error instanceof UnreachableError) return undefined;
    throw error;
  } finally {
    limit.release();
  }
}

async function pages(client: Cluster, signal: AbortSignal): Promise<KnownNodes> {
  const known = new KnownNodes();
  for (let next: string | undefined = ''; next !== undefined;) {
    const query = new URLSearchParams({ limit: String(nodesOfPage), ...(next !== '' && { continue: next }) });
    const body = await client.text(`/api/v1/nodes?${query.toString()}`, { signal });
    const page = nodeAddressPage(body);
    next = known.take(page, body.length) ? page.next : undefined;
  }
  return known;
}
