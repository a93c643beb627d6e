import { definePhases } from '../../runtime/reconcile/run-phases.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../runtime/reconcile/phases.ts';
import type { tenantControlPlaneConditions } from '../../api/steward/v1alpha1/condition-rows.ts';
import type { Dependencies } from './dependencies.ts';
import { authorities } from './certificates/ca-phase.ts';
import { availability } from './workload/availability-phase.ts';
import { certificateRequests } from './addons/worker-bootstrap/certificate-requests-phase.ts';
import { certificates } from './certificates/certificates-phase.ts';
import { credentialsRotation } from './certificates/rotation/credentials-rotation-phase.ts';
import { kubeconfigs } from './certificates/kubeconfigs-phase.ts';
import { konnectivity, konnectivityEgress, konnectivityOfSleeper } from './addons/konnectivity/konnectivity-phase.ts';
import { migration } from './datastore/migration/migration-phase.ts';
import { disruptionBudget, networkPolicy } from './workload/protection-phase.ts';
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
import { preflight } from './upgrade/preflight-phase.ts';
import { coreDNS, kubeadmconfig, kubeProxy, tenant } from './tenant/tenant-phase.ts';
import { translatingErrors } from './shared/translate-errors.ts';
import { workload } from './workload/workload-phase.ts';
import { tcpProxy, tcpProxyCertificate } from './addons/tcp-proxy/tcp-proxy-phase.ts';
import { trustdCredentials } from './addons/worker-bootstrap/trustd-credentials-phase.ts';
import { workerBootstrap } from './addons/worker-bootstrap/worker-bootstrap-phase.ts';
import { allowWrites, denyWrites } from './tenant/write-permissions-phase.ts';
import type { Scope } from './scope.ts';

type Step = (scope: Readonly<Scope>, deps: Dependencies, ctx: Context) => Promise<Outcome<Scope>>;
type Row = readonly [
  name: string,
  /** Absent for work that no condition reports. */
  condition: keyof typeof tenantControlPlaneConditions | undefined,
  needs: readonly string[],
  run: Step,
  more?: Pick<Phase<Scope>, 'after' | 'isSilentWhenBlocked'>,
];

const rows: readonly Row[] = [
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
  ['konnectivity-egress', 'AddonsReady', ['certificates', 'kubeconfigs'], konnectivityEgress],
  ['preflight', 'UpgradeAllowed', ['endpoint', 'kubeconfigs', 'store'], preflight],
  ['trustd-credentials', 'CertificatesReady', ['endpoint'], trustdCredentials],
  ['tcp-proxy-certificate', 'CertificatesReady', ['authorities', 'endpoint'], tcpProxyCertificate],
  [
    'workload',
    'ControlPlaneAvailable',
    ['konnectivity-egress', 'trustd-credentials', 'tenancy', 'overrides', 'preflight'],
    workload,
  ],
  ['override-removal', 'StoreReady', ['workload'], overrideRemoval, { isSilentWhenBlocked: true }],
  ['availability', 'ControlPlaneAvailable', ['workload'], availability],
  ['disruption-budget', 'PodsProtected', [], disruptionBudget],
  ['network-policy', 'PodsProtected', ['endpoint'], networkPolicy],
  ['kubeadmconfig', 'TenantConfigured', ['preflight'], kubeadmconfig],
  ['allow-writes', 'TenantConfigured', ['availability'], allowWrites],
  ['tenant', 'TenantConfigured', ['allow-writes'], tenant],
  ['kubernetes-service', 'TenantConfigured', ['allow-writes'], kubernetesService],
  ['rotation', undefined, ['tenant', 'rotation-request'], credentialsRotation],
  ['coredns', 'AddonsReady', ['allow-writes'], coreDNS],
  ['kube-proxy', 'AddonsReady', ['allow-writes'], kubeProxy],
  ['konnectivity', 'AddonsReady', ['allow-writes'], konnectivity],
  ['konnectivity-of-sleeper', undefined, ['workload'], konnectivityOfSleeper],
  ['worker-bootstrap', 'AddonsReady', ['allow-writes'], workerBootstrap],
  ['certificate-requests', 'AddonsReady', ['allow-writes'], certificateRequests],
  ['tcp-proxy', 'AddonsReady', ['kubernetes-service', 'tcp-proxy-certificate'], tcpProxy],
  [
    'unpublication',
    'EndpointReady',
    ['endpoint', 'kubeconfigs', 'tenant', 'kube-proxy', 'konnectivity', 'tcp-proxy'],
    unpublication,
    { isSilentWhenBlocked: true },
  ],
  ['migration', undefined, ['service', 'endpoint', 'kubeconfigs'], migration],
  ['previous-data', undefined, [], previousData],
];

/** A broken add-on must not keep writes from being denied. */
const addons = rows.filter(([, condition]) => condition === 'AddonsReady').map(([name]) => name);

/** All phases: what runs, which condition reports it, and after what. Everything else runs in parallel. */
const recipe: readonly Row[] = [
  ...rows,
  [
    'deny-writes',
    'TenantConfigured',
    ['tenant', 'kubernetes-service'],
    denyWrites,
    { after: addons, isSilentWhenBlocked: true },
  ],
];

/** The phases of a reconcile, bound to `deps`. */
export function tenantControlPlanePhases(deps: Dependencies): readonly Phase<Scope>[] {
  return definePhases(
    recipe.map(([name, condition, needs, run, more]) =>
      translatingErrors({
        name,
        needs,
        ...(condition !== undefined && { condition }),
        ...more,
        run: (scope, ctx) => run(scope, deps, ctx),
      }),
    ),
  );
}
