import { definePhases } from '../../runtime/reconcile/run-phases.ts';
import type { Phase } from '../../runtime/reconcile/phases.ts';
import type { Dependencies } from './dependencies.ts';
import { authorities } from './certificates/ca-phase.ts';
import { addonRows } from './addons/inside-phase.ts';
import { addons } from './addons/registry.ts';
import { addonRemoval } from './addons/removal-phase.ts';
import { autoscaling } from './workload/autoscaling-phase.ts';
import { availability } from './workload/availability-phase.ts';
import { configuration } from './configuration/configuration-phase.ts';
import { certificates } from './certificates/certificates-phase.ts';
import { credentialsRotation } from './certificates/rotation/credentials-rotation-phase.ts';
import { kubeconfigs } from './certificates/kubeconfigs-phase.ts';
import { migration } from './datastore/migration/migration-phase.ts';
import { disruptionBudget, networkPolicy } from './workload/protection-phase.ts';
import { monitoring } from './monitoring/monitoring-phase.ts';
import { drain } from './datastore/drain/drain-phase.ts';
import { previousData } from './datastore/previous-data-phase.ts';
import { endpoint } from './endpoint/endpoint-phase.ts';
import { exposure, service } from './endpoint/service-phase.ts';
import { staleRoutes, unpublication } from './endpoint/exposure/cleanup-routes-phase.ts';
import { overridePlan } from './datastore/overrides/override-plan-phase.ts';
import { overrideRemoval } from './datastore/overrides/override-removal-phase.ts';
import { overrides, overridesCheck } from './datastore/overrides/overrides-phase.ts';
import { kubernetesService } from './tenant/kubernetes-service-phase.ts';
import { placement } from './datastore/placement/placement-phase.ts';
import { publication } from './endpoint/exposure/exposure-phase.ts';
import { rotationRequest } from './certificates/rotation/rotation-request-phase.ts';
import { store, tenancy, tenancyCheck } from './datastore/store-phase.ts';
import { quota } from './quota/quota-phase.ts';
import { readOnlyEnd } from './tenant/read-only-end-phase.ts';
import { backgroundFlow } from './sleep/use/background-flow-phase.ts';
import { nodeAddresses } from './sleep/waking/node-addresses-phase.ts';
import { waking } from './sleep/waking/waking-phase.ts';
import { preflight } from './upgrade/preflight-phase.ts';
import { encryption } from './encryption/encryption-phase.ts';
import { dataRewrite } from './encryption/data-rewrite-phase.ts';
import { kubeadmconfig, tenant } from './tenant/tenant-phase.ts';
import { translatingErrors } from './shared/translate-errors.ts';
import { workload } from './workload/workload-phase.ts';
import { allowWrites, denyWrites } from './tenant/write-permissions-phase.ts';
import type { Scope } from './scope.ts';
import type { PhaseRow } from './shared/phase-row.ts';

const ofAddons = addons.flatMap(addonRows);
const inside = addons.map((addon) => addon.inside.component);

/**
 * All phases: what runs, which condition reports it, and what it needs. Everything else runs in parallel. The rows of an add-on are in
 * its own folder; the whole table is docs/reference/generated/phases.md.
 */
const rows: readonly PhaseRow[] = [
  ['service', 'EndpointReady', [], service],
  ['exposure', 'EndpointReady', ['service'], exposure],
  ['publication', 'EndpointReady', ['exposure'], publication],
  ['endpoint', 'EndpointReady', ['publication'], endpoint],
  ['stale-routes', 'EndpointReady', ['publication'], staleRoutes],
  ['rotation-request', undefined, [], rotationRequest],
  ['authorities', 'CertificatesReady', [], authorities],
  ['certificates', 'CertificatesReady', ['authorities', 'endpoint'], certificates],
  ['kubeconfigs', 'KubeconfigsReady', ['authorities', 'endpoint'], kubeconfigs],
  ['placement', 'StoreReady', [], placement],
  ['store', 'StoreReady', ['placement'], store],
  ['tenancy', 'StoreReady', ['store'], tenancy],
  ['tenancy-check', 'StoreReady', ['store'], tenancyCheck],
  ['override-plan', 'StoreReady', ['store'], overridePlan],
  ['overrides', 'StoreReady', ['override-plan'], overrides],
  ['overrides-check', 'StoreReady', ['overrides'], overridesCheck],
  ['preflight', 'UpgradeAllowed', ['endpoint', 'kubeconfigs', 'store'], preflight],
  ['encryption', 'ControlPlaneAvailable', [], encryption],
  ['configuration', 'ControlPlaneAvailable', ['preflight'], configuration],
  [
    'workload',
    'ControlPlaneAvailable',
    ['certificates', 'kubeconfigs', 'tenancy', 'overrides', 'encryption', 'preflight', 'configuration'],
    workload,
  ],
  ['override-removal', 'StoreReady', ['workload'], overrideRemoval, { isSilentWhenBlocked: true }],
  ['availability', 'ControlPlaneAvailable', ['workload'], availability],
  ['autoscaling', undefined, [], autoscaling],
  ['disruption-budget', 'PodsProtected', [], disruptionBudget],
  ['network-policy', 'PodsProtected', ['endpoint'], networkPolicy],
  ['monitoring', undefined, ['authorities', 'endpoint'], monitoring],
  // A rollout that failed leaves the version that runs.
  ['kubeadmconfig', 'TenantConfigured', ['preflight'], kubeadmconfig, { after: ['workload'] }],
  ['read-only-end', 'TenantConfigured', ['availability'], readOnlyEnd],
  ['allow-writes', 'TenantConfigured', ['read-only-end'], allowWrites],
  ['tenant', 'TenantConfigured', ['allow-writes'], tenant],
  ['kubernetes-service', 'TenantConfigured', ['allow-writes'], kubernetesService],
  ['background-requests', undefined, ['tenant'], backgroundFlow],
  ['waking', undefined, ['service'], waking],
  ['node-addresses', undefined, ['waking', 'tenant'], nodeAddresses],
  ['quota', undefined, ['availability'], quota],
  ['rotation', undefined, ['tenant', 'rotation-request'], credentialsRotation],
  ['data-rewrite', undefined, ['tenant', 'encryption'], dataRewrite],
  [
    'unpublication',
    'EndpointReady',
    ['endpoint', 'kubeconfigs', 'tenant'],
    unpublication,
    { isSilentWhenBlocked: true },
  ],
  ['migration', undefined, ['service', 'endpoint', 'kubeconfigs'], migration],
  // Without an endpoint it says so.
  ['drain', undefined, [], drain, { after: ['endpoint', 'kubeconfigs'] }],
  ['previous-data', undefined, [], previousData],
  ...ofAddons,
  ['addon-removal', 'AddonsReady', ['workload'], addonRemoval, { after: inside, isSilentWhenBlocked: true }],
  // A broken add-on must not keep writes from being denied.
  [
    'deny-writes',
    'TenantConfigured',
    ['tenant', 'kubernetes-service'],
    denyWrites,
    {
      after: ofAddons.flatMap(([name, condition]) => (condition === 'AddonsReady' ? [name] : [])),
      isSilentWhenBlocked: true,
    },
  ],
];

for (const [name, , , , { before = [] } = {}] of ofAddons) {
  const missing = before.find((later) => !rows.some(([known]) => known === later));
  if (missing !== undefined) throw new Error(`phase ${name} comes before ${missing}, which is not among the phases`);
}

/** The table, with the needs that rows of add-ons add to others. */
export const recipe = rows.map(([name, condition, needs, run, { after = [], isSilentWhenBlocked = false } = {}]) => {
  const more = ofAddons.flatMap(([addon, , , , { before = [] } = {}]) => (before.includes(name) ? [addon] : []));
  return { name, condition, needs: [...needs, ...more], after, isSilentWhenBlocked, run };
});

/** The phases of a reconcile, bound to `deps`. */
export function tenantControlPlanePhases(deps: Dependencies): readonly Phase<Scope>[] {
  return definePhases(
    recipe.map(({ condition, run, ...phase }) =>
      translatingErrors({
        ...phase,
        condition,
        run: (scope, ctx) => run(scope, deps, ctx),
      }),
    ),
  );
}
