import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { componentChecksumLabel } from '../../../api/names.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { podSelectorText } from '../shared/pod-selector.ts';
import { wantedReplicas } from '../shared/replicas.ts';
import { isRolling } from '../shared/state.ts';
import type { AddonName } from './addon.ts';

/** An object of a tenant in the management cluster. */
export interface OwnObject {
  readonly kind: KindRef;
  readonly name: string;
}

/** Why something stays although it is not wanted anymore. */
export interface Retained {
  readonly message?: string;
  /** When to check again, in milliseconds; absent when a watch or another phase reports it. */
  readonly afterMs?: number;
}

/** Says why something stays; undefined when it may go. */
export type Retention = (
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
) => Promise<Retained | undefined> | Retained | undefined;

/** The Deployment does not count terminating pods, and no watch reports their end: check again after this many milliseconds. */
const leavingMs = 2_000;

/** Keeps things while a pod that carries the checksum of `component` has not ended. */
export function whilePodsUse(component: string, message = ''): Retention {
  return async ({ tcp, deployment }, deps, { signal }) => {
    if (isRolling(deployment, wantedReplicas(tcp, deployment))) return { message };
    const { namespace } = tcp.metadata;
    const labelSelector = `${podSelectorText(tcp)},${componentChecksumLabel(component)}`;
    const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal });
    const isUsed = items.some(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    return isUsed ? { message, afterMs: leavingMs } : undefined;
  };
}

/** Keeps things while objects of the add-on may be inside the tenant. */
export function whileInside(name: AddonName): Retention {
  return ({ addons }) => (addons[name]?.isInside === false ? undefined : {});
}

/** The first reason to stay; undefined when there is none. */
export async function retained(
  retentions: readonly Retention[] = [],
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Retained | undefined> {
  for (const retention of retentions) {
    const found = await retention(scope, deps, ctx);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** True for a Secret of this name that the tenant owns. */
export function ownsSecret({ tcp, observed }: Readonly<Scope>, name: string): boolean {
  return isOurs(tcp, observed.secrets.get(name));
}

/** True for an object that the tenant owns. */
export function isOurs(tcp: Scope['tcp'], object: Resource | undefined): boolean {
  return object?.metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) === true;
}
