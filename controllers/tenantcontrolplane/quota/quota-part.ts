import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { TenantControlPlaneSpec } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** `spec.quota`. */
export type Quota = NonNullable<TenantControlPlaneSpec['quota']>;

/** The name of a limit. */
export type LimitName = NonNullable<QuotaStatus['reached']>[number];

/** What a part of a quota, one or more limits, is decided by. */
export interface PartInput<Measurement> {
  readonly quota: Quota;
  /** What the last reconcile recorded. */
  readonly before: QuotaStatus | undefined;
  readonly measurement: Measurement;
  readonly now: Date;
}

/** What a part of a quota says. */
export interface QuotaPart {
  readonly is: 'unknown' | 'tooOld' | 'reached' | 'near' | 'within';
  readonly reached: readonly LimitName[];
  /** True where what anybody could repeat for ever has to be denied as well. */
  readonly isOverdrawn?: boolean;
  /** What the tenant does, e.g. `stores 10 of 1000 objects`. */
  readonly text: string;
  /** Until when creations and changes are denied, if they are. */
  readonly until: string;
  readonly used: NonNullable<QuotaStatus['used']>;
  /** When this was measured; undefined before it was for the first time. */
  readonly time: Date | undefined;
  /** Why the last attempt to measure it failed. */
  readonly failure: string | undefined;
}

/**
 * So long a measurement counts, in milliseconds. A tenant is neither blocked nor trusted for longer because its data cannot be measured:
 * a broken DataStore, or one that is slow, must not stop a tenant for ever.
 */
export const keepMs = 10 * 60_000;

/** What is said of a part that was never measured, or not for too long. */
export function unmeasuredPart(
  is: 'unknown' | 'tooOld',
  { used, time, failure }: Pick<QuotaPart, 'used' | 'time' | 'failure'>,
): QuotaPart {
  return { is, reached: [], text: '', until: '', used, time, failure };
}
