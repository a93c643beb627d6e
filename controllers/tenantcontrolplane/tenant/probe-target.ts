import type { Service } from '../../../api/core/kinds.ts';
import type { Observed, Scope } from '../scope.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { wantedReplicas } from '../shared/replicas.ts';

/** An API server that is probed. */
export interface ProbedKubeconfig {
  /** Names it and its CA. */
  readonly kubeconfig: string;
  /** Dialed in place of what the kubeconfig names. */
  readonly dial?: { readonly host: string; readonly port: number };
}

/** How a tenant is probed from now on. */
export type ProbeChange =
  { readonly service: ProbedKubeconfig; readonly endpoint: ProbedKubeconfig } | 'stop' | 'unchanged';

/** What a reconcile knows of where a tenant is reached. */
export interface ProbedScope extends Pick<
  Scope,
  'tcp' | 'tenantPrepared' | 'operatorKubeconfig' | 'superAdminKubeconfig'
> {
  readonly observed: Pick<Observed, 'deployment'>;
  readonly endpoint?: Pick<Endpoint, 'port'>;
  readonly service?: Pick<Service, 'spec'>;
}

/**
 * Where a tenant is probed: from the moment at which it has everything that its first users need, until it sleeps. What a reconcile
 * does not find out leaves it unchanged: a tenant that does not answer is to be probed above all.
 */
export function probeTarget(scope: ProbedScope): ProbeChange {
  if (wantedReplicas(scope.tcp, scope.observed.deployment) === 0) return 'stop';
  const { tenantPrepared, operatorKubeconfig, superAdminKubeconfig, endpoint, service } = scope;
  const isKnown = tenantPrepared === true && operatorKubeconfig !== undefined && superAdminKubeconfig !== undefined;
  if (!isKnown) return 'unchanged';
  const host = service?.spec?.clusterIP ?? 'None';
  const dial = endpoint === undefined || host === 'None' ? undefined : { host, port: endpoint.port };
  return { service: { kubeconfig: operatorKubeconfig, dial }, endpoint: { kubeconfig: superAdminKubeconfig } };
}

/** True while the management cluster reports fewer ready pods than are wanted: the API server may not answer. */
export function lacksReadyPods({ tcp, observed }: Pick<ProbedScope, 'tcp' | 'observed'>): boolean {
  return (observed.deployment?.status?.readyReplicas ?? 0) < wantedReplicas(tcp, observed.deployment);
}
