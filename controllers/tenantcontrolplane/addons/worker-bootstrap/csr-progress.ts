import type { Condition } from '../../../../api/meta.ts';
import type { tenantControlPlaneConditions } from '../../../../api/steward/v1alpha1/condition-rows.ts';
import type { NewCondition } from '../../../../runtime/reconcile/conditions.ts';
import type { Scope } from '../../scope.ts';
import type { ReconcileCache } from '../../shared/reconcile-cache.ts';

/** Requests of workers that were not approved, as they are reported. */
export interface RequestsLeft {
  readonly count: number;
  /** The first of them, by name. */
  readonly first: readonly { readonly name: string; readonly why: string }[];
}

/** None. */
export const noRequestsLeft: RequestsLeft = { count: 0, first: [] };

/** How far a pass over a tenant's certificate requests has come. */
export interface RequestPass {
  /** Where the next page begins; absent at the beginning. */
  readonly from?: string;
  /** The resource version of the first page: newer requests have not been seen. */
  readonly resourceVersion?: string;
  /** The requests that were not approved on the pages so far. */
  readonly left: RequestsLeft;
  /** True when one of them may be approved later. */
  readonly mayFit: boolean;
}

const beginning: RequestPass = { left: noRequestsLeft, mayFit: false };
const fact = 'pass-over-certificate-requests';

/** The passes that this process remembers; if they are lost, they start over. */
export class RequestBook {
  readonly #memory: ReconcileCache;

  constructor(memory: ReconcileCache) {
    this.#memory = memory;
  }

  /** The current pass of a tenant, or a new one. */
  of(uid: string): RequestPass {
    const known = this.#memory.recall(uid, fact);
    return known === undefined ? beginning : (JSON.parse(known) as RequestPass);
  }

  remember(uid: string, pass: RequestPass): void {
    this.#memory.remember(uid, fact, JSON.stringify(pass));
  }

  /** The pass is over. */
  forget(uid: string): void {
    this.#memory.forget(uid, fact);
  }
}

/** How many are reported by name: a tenant can create any number of requests. */
const mostTold = 3;

/** Adds a request that is not approved. */
export function withRequest(left: RequestsLeft, name: string, why: string): RequestsLeft {
  return {
    count: left.count + 1,
    first: left.first.length < mostTold ? [...left.first, { name, why }] : left.first,
  };
}

/** The requests that were not approved, the reasons and what to do; empty when there are none. */
function requestsText({ count, first }: RequestsLeft): string {
  if (count === 0) return '';
  const told = first.map(({ name, why }) => `${name} ${why}`);
  const others = count > first.length ? [`${count - first.length} more`] : [];
  const remedy = 'review them, then approve or deny them with kubectl certificate';
  return `certificate requests of the tenant were not approved: ${[...told, ...others].join('; ')}: ${remedy}`;
}

/** Only for tenants whose nodes request certificates, or did so before. An unfinished pass keeps the result of the last one. */
export function requestsCondition({ addons }: Readonly<Scope>, list: readonly Condition[]): readonly NewCondition[] {
  const type = 'CertificateRequestsLeft' satisfies keyof typeof tenantControlPlaneConditions;
  const left = addons.workerBootstrap?.requestsLeft;
  if (left === undefined) return [];
  const message = requestsText(left);
  if (message !== '') return [{ type, status: 'True', reason: 'NotApproved', message }];
  if (!list.some((condition) => condition.type === type)) return [];
  return [{ type, status: 'False', reason: 'AllHandled', message }];
}
