import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import type { Addon } from './addon.ts';
import { isOurs, ownsSecret, retained } from './retention.ts';
import type { OwnObject, Retained } from './retention.ts';

/** Removes an object; one of another owner is left in place. */
async function removeOwn(
  { tcp }: Readonly<Scope>,
  { kind, name }: OwnObject,
  { cluster }: Dependencies,
  { signal }: Context,
): Promise<void> {
  const key = { namespace: tcp.metadata.namespace, name };
  const found = await cluster.get(kind, key, { signal });
  if (!isOurs(tcp, found)) return;
  const uid = found?.metadata.uid;
  await cluster.delete(kind, key, { signal, uid });
}

/** Removes what an add-on does not want anymore, or says why it stays. */
async function remove(
  addon: Addon,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Retained | undefined> {
  const unwanted = addon.unwanted?.(scope) ?? [];
  if (!unwanted.some(({ name }) => ownsSecret(scope, name))) return undefined;
  const stay = await retained(addon.retainWhile, scope, deps, ctx);
  if (stay !== undefined) return stay;
  for (const object of unwanted) await removeOwn(scope, object, deps, ctx);
  return undefined;
}

/** Removes from the management cluster what add-ons do not want anymore, each once nothing retains it. */
export async function addonRemoval(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const stays = await Promise.all(deps.addons.map((addon) => remove(addon, scope, deps, ctx)));
  const messages = stays.flatMap((stay) => stay?.message ?? []).filter((message) => message !== '');
  const waits = stays.flatMap((stay) => stay?.afterMs ?? []);
  return { is: 'done', message: messages.join('; '), ...(waits.length > 0 && { afterMs: Math.min(...waits) }) };
}
