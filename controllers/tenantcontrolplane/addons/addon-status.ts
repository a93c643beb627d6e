import type { TenantControlPlaneStatus } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Scope, SecretFact } from '../scope.ts';
import type { Addon } from './addon.ts';

type Addons = NonNullable<TenantControlPlaneStatus['addons']>;
type SecretStatus = NonNullable<NonNullable<Addons['konnectivity']>['certificate']>;

/** How the parts of the status are built. */
export interface StatusWords {
  /** The fact with the time at which it changed. */
  secret(before: SecretStatus | undefined, fact: SecretFact): SecretStatus;
  /** RFC 3339. */
  readonly at: string;
}

/** Whether the objects of an add-on are inside the tenant, and since when; unchanged while that is unknown. */
function plainStatus(
  { name }: Addon,
  { tcp, addons }: Readonly<Scope>,
  { at }: StatusWords,
): { readonly enabled: boolean; readonly lastUpdate?: string | null } | undefined {
  const before = tcp.status?.addons?.[name];
  const enabled = addons[name]?.isInside;
  if (enabled === undefined || before?.enabled === enabled) return before;
  if (!enabled && before === undefined) return undefined;
  return { enabled, lastUpdate: at };
}

/** The status of the add-ons after a reconcile. */
export function addonsStatus(addons: readonly Addon[], scope: Readonly<Scope>, words: StatusWords): Addons | undefined {
  const before = scope.tcp.status?.addons;
  const found = addons.flatMap((addon) => {
    const status = addon.status === undefined ? plainStatus(addon, scope, words) : addon.status(scope, words);
    return status === undefined ? [] : [[addon.name, status] as const];
  });
  return found.length === 0 ? before : { ...before, ...(Object.fromEntries(found) as Addons) };
}
