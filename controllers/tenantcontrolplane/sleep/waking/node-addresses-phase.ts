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
import { addressesText, nodeAddressPage } from './node-address-page.ts';
import { wakesOnRequest } from './wakes-on-request.ts';

/** The addresses of nodes are read again after this time at most, in milliseconds. */
const freshMs = 10 * 60_000;

/** Beyond so many pages of nodes, the others are not known. */
const mostPages = 20;

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
  const [kind, at] = (deps.memory.recall(uid, fact) ?? '').split(' ');
  if (kind === String(isWanted) && now - Number(at) < freshMs) return { is: 'done' };
  const text = isWanted ? await read(scope, deps, ctx) : '';
  if (text === undefined) return { is: 'done' };
  if (text !== activator.nodes) {
    const key = { namespace, name: activatorSlice(tenantObjects(name).service, scope.service?.spec?.ipFamilies?.[0]) };
    const body = { metadata: { annotations: { [annotations.nodeAddresses]: text === '' ? null : text } } };
    await deps.cluster.patch(kinds.EndpointSlice, key, { type: 'merge', body }, { signal: ctx.signal });
  }
  deps.memory.remember(uid, fact, `${isWanted} ${now}`);
  return { is: 'done' };
}

/** The addresses of all nodes, as text; undefined if they cannot be read now. */
async function read(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<string | undefined> {
  const limit = deadline(deps.clock, answersMs, [ctx.signal]);
  try {
    return addressesText(await pages(deps.tenants.client(scope), limit.signal));
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (limit.signal.aborted || error instanceof ApiError || error instanceof UnreachableError) return undefined;
    throw error;
  } finally {
    limit.release();
  }
}

async function pages(client: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  const found: string[] = [];
  let next: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const query = new URLSearchParams({ limit: '50', ...(next !== undefined && { continue: next }) });
    const read = nodeAddressPage(await client.text(`/api/v1/nodes?${query.toString()}`, { signal }));
    found.push(...read.addresses);
    next = read.next;
    if (next === undefined) break;
  }
  return found;
}
