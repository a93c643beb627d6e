import { definePhases } from '../../runtime/run-phases.ts';
import type { Context } from '../../runtime/controller.ts';
import type { Outcome, Phase } from '../../runtime/phases.ts';
import type { tenantControlPlaneConditions } from '../../api/steward/v1alpha1/condition-rows.ts';
import type { Dependencies } from './dependencies.ts';
import { authorities } from './phases/authorities.ts';
import { availability } from './phases/availability.ts';
import { certificateRequests } from './phases/certificate-requests.ts';
import { certificates } from './phases/certificates.ts';
import { credentialsRotation } from './phases/credentials-rotation.ts';
import { kubeconfigs } from './phases/kubeconfigs.ts';
import {
  konnectivityAgent,
  konnectivityAttempt,
  konnectivityEgress,
  konnectivityOfSleeper,
  konnectivityRemoval,
} from './phases/konnectivity.ts';
import { migration } from './phases/migration.ts';
import { disruptionBudget, networkPolicy } from './phases/protection.ts';
import { previousData } from './phases/previous-data.ts';
import { endpoint } from './phases/endpoint.ts';
import { exposure, externalIp, service } from './phases/service.ts';
import { aimlessRoutes, unpublication } from './phases/unpublication.ts';
import { overridePlan } from './phases/override-plan.ts';
import { overrideRemoval } from './phases/override-removal.ts';
import { overrides, overridesCheck } from './phases/overrides.ts';
import { kubernetesService } from './phases/kubernetes-service.ts';
import { placement } from './phases/placement.ts';
import { agentsPublished, publication, published, trustdPublished } from './phases/publication.ts';
import { rotationRequest } from './phases/rotation-request.ts';
import { store, tenancy, tenancyCheck } from './phases/store.ts';
import { preflight, upgrade } from './phases/preflight.ts';
import { coreDNS, kubeadmconfig, kubeProxy, tenant } from './phases/tenant.ts';
import { translatingErrors } from './phases/translate-errors.ts';
import { workload } from './phases/workload.ts';
import { tcpProxy, tcpProxyCertificate } from './phases/tcp-proxy.ts';
import { trustdCredentials } from './phases/trustd-credentials.ts';
import { workerBootstrap, workerBootstrapRemoval } from './phases/worker-bootstrap.ts';
import { allowWrites, denyWrites } from './phases/write-permissions.ts';
import type { Scope } from './scope.ts';

type Step = (scope: Readonly<Scope>, deps: Dependencies, ctx: Context) => Promise<Outcome<Scope>>;
type Row = readonly [
  name: string,
  /** Absent for work whose condition does not say whether it is done. */
  condition: keyof typeof tenantControlPlaneConditions | undefined,
  needs: readonly string[],
  run: Step,
  /** What must have ended before, whatever it came to. */
  after?: readonly string[],
];

/** Add-ons that are written inside a tenant: one that is broken must not keep writes from being denied. */
const addonsInside = ['coredns', 'kube-proxy', 'konnectivity-attempt', 'worker-bootstrap', 'tcp-proxy'];

/** The whole recipe: what is done, which condition tells of it, and after what. Everything else runs side by side. */
const recipe: readonly Row[] = [
  ['service', 'EndpointReady', [], service],
  ['external-ip', 'EndpointReady', [], externalIp],
  ['exposure', 'EndpointReady', ['service'], exposure],
  ['publication', 'EndpointReady', ['exposure'], publication],
  ['published', 'EndpointReady', ['publication'], published],
  ['endpoint', 'EndpointReady', ['publication'], endpoint],
  ['aimless-routes', 'EndpointReady', ['publication'], aimlessRoutes],
  ['agents-published', 'AddonsReady', ['publication'], agentsPublished],
  ['trustd-published', 'AddonsReady', ['publication'], trustdPublished],
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
  ['preflight', undefined, ['endpoint', 'kubeconfigs', 'store'], preflight],
  ['upgrade', 'UpgradeAllowed', ['preflight'], upgrade],
  ['trustd-credentials', 'CertificatesReady', ['endpoint'], trustdCredentials],
  ['tcp-proxy-certificate', 'CertificatesReady', ['authorities', 'endpoint'], tcpProxyCertificate],
  [
    'workload',
    'ControlPlaneAvailable',
    ['konnectivity-egress', 'trustd-credentials', 'tenancy', 'overrides', 'preflight'],
    workload,
  ],
  ['override-removal', 'StoreReady', ['workload'], overrideRemoval],
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
  ['konnectivity-attempt', 'AddonsReady', ['allow-writes'], konnectivityAttempt],
  ['konnectivity-agent', 'AddonsReady', ['konnectivity-attempt'], konnectivityAgent],
  ['konnectivity-of-sleeper', undefined, ['workload'], konnectivityOfSleeper],
  ['konnectivity-removal', 'AddonsReady', ['konnectivity-agent'], konnectivityRemoval],
  ['worker-bootstrap', 'AddonsReady', ['allow-writes'], workerBootstrap],
  ['worker-bootstrap-removal', 'AddonsReady', ['worker-bootstrap'], workerBootstrapRemoval],
  ['certificate-requests', 'AddonsReady', ['allow-writes'], certificateRequests],
  ['tcp-proxy', 'AddonsReady', ['kubernetes-service', 'tcp-proxy-certificate'], tcpProxy],
  [
    'unpublication',
    'EndpointReady',
    ['endpoint', 'kubeconfigs', 'tenant', 'kube-proxy', 'konnectivity-agent', 'tcp-proxy'],
    unpublication,
  ],
  ['deny-writes', 'TenantConfigured', ['tenant', 'kubernetes-service'], denyWrites, addonsInside],
  ['migration', undefined, ['service', 'endpoint', 'kubeconfigs'], migration],
  ['previous-data', undefined, [], previousData],
];

/** The phases of a visit, acting through `deps`. */
export function tenantControlPlanePhases(deps: Dependencies): readonly Phase<Scope>[] {
  return definePhases(
    recipe.map(([name, condition, needs, run, after]) =>
      translatingErrors({
        name,
        needs,
        ...(condition !== undefined && { condition }),
        ...(after !== undefined && { after }),
        run: (scope, ctx) => run(scope, deps, ctx),
      }),
    ),
  );
}
