import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { firstMinorWithPolicies, versionWithoutPolicies } from '../datastore/migration/read-only-policy.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { policyKinds } from '../shared/tenant-kinds.ts';
import { decide } from './quota-decision.ts';
import type { QuotaDecision } from './quota-decision.ts';
import { quotaManifests } from './quota-policy.ts';

const component = 'quota';

/** Denies creations and changes in the tenant while it exceeds its quota, and allows them otherwise. */
export async function quota(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, versions } = scope;
  const before = tcp.status?.quota;
  const { quota: wanted } = tcp.spec;
  if (wanted === undefined) {
    if (before !== undefined) await deps.tenants.apply(scope, { component, manifests: [], prunes: policyKinds }, ctx);
    return { is: 'done', learned: { quota: { decision: undefined } } };
  }
  const measurement = deps.measurementOf(tcp.metadata.uid);
  const decision = decide(wanted, { before, measurement, now: ctx.now });
  const tooOld = versionWithoutPolicies(versions);
  if (tooOld !== undefined) {
    const message = `spec.quota needs Kubernetes 1.${firstMinorWithPolicies} or later, but ${tooOld} is running: upgrade, or remove the field`;
    return { is: 'done', learned: { quota: { decision, tooOld: { reason: 'PoliciesNotServed', message } } } };
  }
  const { blocked } = decision.status;
  const set = blocked
    ? { component, manifests: quotaManifests(decision), prunes: [] }
    : { component, manifests: [], prunes: policyKinds };
  await deps.tenants.apply(scope, set, ctx);
  warn(scope, decision, ctx);
  const { endsAfterMs } = decision;
  return {
    is: 'done',
    learned: { quota: { decision } },
    ...(blocked && endsAfterMs !== undefined && { afterMs: endsAfterMs + 1000 }),
  };
}

/** The condition is True while a limit is near, so it makes no Event of its own. */
function warn({ tcp }: Readonly<Scope>, { reason, message }: QuotaDecision, ctx: Context): void {
  if (reason !== 'NearQuota') return;
  const before = tcp.status?.conditions?.find(({ type }) => type === 'WithinQuota');
  if (before?.reason !== reason) ctx.event('Warning', reason, message);
}
