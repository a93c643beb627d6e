import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { componentChecksumLabel } from '../../../api/names.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { podSelectorText } from '../shared/pod-selector.ts';

/** The Deployment does not count terminating pods, and no watch reports their end: check again after this many milliseconds. */
export const leavingMs = 2_000;

/** True for an object that the tenant owns. */
export function isOurs(tcp: Scope['tcp'], object: Resource | undefined): boolean {
  return object?.metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) === true;
}

/** True while a pod that carries the checksum of `component` has not ended. */
export async function isUsedByPods(
  scope: Readonly<Scope>,
  component: string,
  deps: Dependencies,
  ctx: Context,
): Promise<boolean> {
  const namespace = scope.tcp.metadata.namespace ?? '';
  const labelSelector = `${podSelectorText(scope.tcp)},${componentChecksumLabel(component)}`;
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal: ctx.signal });
  return items.some(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
}

/** Removes an object of an add-on that is no longer wanted; an object of another owner is left in place. */
export async function removeOwn<T extends Resource>(
  { tcp }: Readonly<Scope>,
  what: { readonly kind: KindRef<T>; readonly name: string },
  { cluster }: Dependencies,
  ctx: Context,
): Promise<void> {
  const key = { namespace: tcp.metadata.namespace ?? '', name: what.name };
  const { signal } = ctx;
  const found = await cluster.get(what.kind, key, { signal });
  if (!isOurs(tcp, found)) return;
  const uid = found?.metadata.uid;
  await cluster.delete(what.kind, key, { signal, ...(uid !== undefined && { uid }) });
}
