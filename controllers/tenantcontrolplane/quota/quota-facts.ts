import type { QuotaDecision } from './quota-decision.ts';

/** What a reconcile found out about the quota of a tenant. */
export interface QuotaFacts {
  /** Undefined where the spec has no quota. */
  readonly decision: QuotaDecision | undefined;
  /** Why it cannot be enforced. */
  readonly tooOld?: { readonly reason: 'PoliciesNotServed'; readonly message: string };
}
