import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';
import { backgroundFlowManifests, flowKinds } from './background-flow-schema.ts';

const component = 'background-requests';

/** Has the tenant count requests in the background apart, while it is to sleep when nobody uses it. */
export async function backgroundFlow(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const manifests = backgroundFlowManifests(scope.tcp);
  if (manifests.length > 0) {
    await deps.tenants.apply(scope, { component, manifests, prunes: [] }, ctx);
    return { is: 'done' };
  }
  // Whoever never had one is not asked.
  if (scope.tcp.status?.use === undefined) return { is: 'done' };
  await deps.tenants.apply(scope, { component, manifests, prunes: flowKinds }, ctx);
  return { is: 'done', learned: { backgroundFlowRemoved: true } };
}
