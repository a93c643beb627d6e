/** What one tenant does at a moment of a cycle. */
export interface LoadAction {
  /** Since the cycle began. */
  readonly atMs: number;
  /** Its place in the list of tenants. */
  readonly tenant: number;
  /** A renewed lease, a read of one key, or a count of the objects of a kind. */
  readonly is: 'renew' | 'read' | 'count';
  /** Which lease, or which kind. */
  readonly which: number;
}

/** After this time everything happens again. */
export const cycleMs = 60_000;

/** Every so many milliseconds, so many leases of a tenant are renewed (docs/how-to/limit-what-a-tenant-stores.md). */
const renewals = [
  // The leaders of kube-controller-manager and kube-scheduler.
  { leases: 2, everyMs: 2_000 },
  // Two leases of each of two replicas of kube-apiserver, and ten nodes.
  { leases: 4 + 10, everyMs: 10_000 },
] as const;

/** A probe asks whether the datastore answers; kube-apiserver asks it once a second at most. */
const readEveryMs = 1_000;

/** Every kind is counted once in this time. */
const countEveryMs = 60_000;

/** The measured tenant renews one more lease, so often that its own figures mean something. */
const measuredEveryMs = 100;

/** Leases of a tenant that is not measured; the measured one has one more, whose number this is. */
export const leasesOfTenant = renewals.reduce((sum, { leases }) => sum + leases, 0);

/** Writes a second of a tenant that is not measured. */
export const writesPerSecond = renewals.reduce((sum, { leases, everyMs }) => sum + (leases * 1000) / everyMs, 0);

/** Reads a second of a tenant, counts included. */
export const readsPerSecond = (kinds: number): number => 1000 / readEveryMs + (kinds * 1000) / countEveryMs;

/** A tenant of the load. */
export interface LoadTenant {
  /** Among all tenants of the datastore, also those of other processes. */
  readonly number: number;
  readonly isMeasured: boolean;
}

/** All that some tenants do in one cycle, in the order of time. Each begins at a moment of its own. */
export function loadCycle(tenants: readonly LoadTenant[], kinds: number): readonly LoadAction[] {
  const actions = tenants.flatMap(({ number, isMeasured }, tenant) => {
    let timers = 0;
    const every = (everyMs: number, is: LoadAction['is'], which: number): readonly LoadAction[] => {
      timers += 1;
      const first = phase(number, timers) * everyMs;
      return Array.from({ length: cycleMs / everyMs }, (_, at) => ({
        ...{ atMs: first + at * everyMs, tenant, is, which },
      }));
    };
    const intervals = renewals.flatMap(({ leases, everyMs }) => Array.from({ length: leases }, () => everyMs));
    return [
      ...intervals.flatMap((everyMs, lease) => every(everyMs, 'renew', lease)),
      ...(isMeasured ? every(measuredEveryMs, 'renew', leasesOfTenant) : []),
      ...every(readEveryMs, 'read', 0),
      ...Array.from({ length: kinds }, (_, kind) => every(countEveryMs, 'count', kind)).flat(),
    ];
  });
  return actions.toSorted((one, other) => one.atMs - other.atMs);
}

/** From 0 to 1, spread evenly and the same in every run: multiples of irrational numbers, without the whole part. */
function phase(tenant: number, timer: number): number {
  return (tenant * 0.618_033_988_75 + timer * 0.754_877_666_25) % 1;
}
