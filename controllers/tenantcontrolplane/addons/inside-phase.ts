import type { KindRef, Manifest } from '../../../api/meta.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { trustingPods } from '../certificates/rotation/restart-on-trust-change.ts';
import type { TenantSet } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { applied } from '../shared/inside-tenant.ts';
import { putOff } from '../upgrade/writes-in-tenant.ts';
import type { PhaseRow, Step } from '../shared/phase-row.ts';
import type { Addon, AddonName } from './addon.ts';
import { retained } from './retention.ts';
import type { Retention } from './retention.ts';

/** What is known of every add-on. */
export interface InsideFacts {
  /** Whether its objects are in the tenant; absent while that is unknown. */
  readonly isInside?: boolean;
}

/** What an add-on wants inside the tenant now. */
export interface Wanted {
  /** Its objects; absent while those in the tenant stay as they are. Kinds of objects that may be left over are pruned. */
  readonly set?: { readonly manifests: readonly Manifest[] } & Partial<
    Pick<TenantSet, 'createOnly' | 'preservedReplicas' | 'prunes'>
  >;
  /** More facts about the add-on. */
  readonly facts?: object;
  /** What is still to come when the objects have been applied. */
  readonly then?: Pick<Extract<Outcome<Scope>, { readonly is: 'done' }>, 'message' | 'afterMs'> | Waiting;
}

type Waiting = Extract<Outcome<Scope>, { readonly is: 'waiting' }>;

/** The objects of an add-on inside the tenant. */
export interface Inside {
  /** Value of their component label, and name of the phase. */
  readonly component: string;
  /** The kinds that may hold objects of the add-on. */
  readonly kinds: readonly KindRef[];
  /** What the phase needs; by default, that the tenant can be written to. */
  readonly needs?: readonly string[];
  /** Phases that need this one. */
  readonly before?: readonly string[];
  wanted(scope: Readonly<Scope>): Wanted;
  /** True while objects may be in the tenant although the add-on is off. */
  isLeft(scope: Readonly<Scope>): boolean;
  /** Why they are not removed yet although the add-on is off. */
  readonly retainWhile?: readonly Retention[];
}

/** The scope with facts about one add-on. */
function learned(name: AddonName, facts: object): Partial<Scope> {
  return { addons: { [name]: facts } };
}

/** Applies the objects of an add-on inside the tenant, or removes them when it is off. */
function insideStep({ name, inside }: Addon): Step {
  const { component, kinds } = inside;
  const gone = { is: 'done', learned: learned(name, { isInside: false }) } as const;
  return async (scope, deps, ctx) => {
    const { tcp } = scope;
    const isWanted = tcp.spec.addons[name] !== undefined;
    if (!isWanted && !inside.isLeft(scope)) return gone;
    const later = putOff(scope);
    if (later !== undefined) return { is: 'done', message: later };
    if (!isWanted) {
      const stay = await retained(inside.retainWhile, scope, deps, ctx);
      if (stay !== undefined) return { is: 'done', ...stay };
      const set = { component, manifests: [], prunes: kinds };
      return (await applied(scope, deps.tenants.apply(scope, set, ctx))) ?? gone;
    }
    const { set, facts, then } = inside.wanted(scope);
    if (set !== undefined) {
      const wanted = { component, prunes: kinds, ...set, manifests: trustingPods(tcp, set.manifests) };
      const waiting = await applied(scope, deps.tenants.apply(scope, wanted, ctx));
      if (waiting !== undefined) return waiting;
    }
    if (then !== undefined && 'is' in then) return then;
    return { is: 'done', ...then, learned: learned(name, { ...(set !== undefined && { isInside: true }), ...facts }) };
  };
}

/** The rows of an add-on in the recipe. */
export function addonRows(addon: Addon): readonly PhaseRow[] {
  const { component, needs = ['allow-writes'], before = [] } = addon.inside;
  return [...(addon.phases ?? []), [component, 'AddonsReady', needs, insideStep(addon), { before }]];
}
