import { ports } from '../../../../api/names.ts';
import type { TenantControlPlaneStatus } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { StatusWords } from '../addon-status.ts';
import type { Scope } from '../../scope.ts';

type WorkerBootstrap = NonNullable<NonNullable<TenantControlPlaneStatus['addons']>['workerBootstrap']>;

function service({ service: live }: Readonly<Scope>): Partial<WorkerBootstrap> {
  const port = live?.spec?.ports?.find(({ name }) => name === ports.trustdService)?.port;
  if (live === undefined || port === undefined) return {};
  const status = live.status as Partial<NonNullable<WorkerBootstrap['service']>> | undefined;
  return {
    service: { ...status, name: live.metadata.name, namespace: live.metadata.namespace, port },
  };
}

/** The status of the add-on after a reconcile: what the reconcile could not find out is unchanged; a removed one is only disabled. */
export function workerBootstrapStatus(scope: Readonly<Scope>, words: StatusWords): WorkerBootstrap | undefined {
  const { tcp } = scope;
  const { credentials: fact, endpoint, isInside } = scope.addons.workerBootstrap ?? {};
  const before = tcp.status?.addons?.workerBootstrap;
  const wanted = tcp.spec.addons.workerBootstrap;
  if (wanted === undefined) {
    return before !== undefined && isInside === false ? { enabled: false } : before;
  }
  return {
    enabled: false,
    ...before,
    provider: wanted.provider,
    ...(fact !== undefined && { credentials: words.secret(before?.credentials, fact) }),
    ...service(scope),
    ...(endpoint !== undefined && { enabled: true, endpoint }),
  };
}
