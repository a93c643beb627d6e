import type { TenantControlPlaneStatus } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { proxyName, proxyNamespace, proxyRole } from './proxy-names.ts';
import type { StatusWords } from '../addon-status.ts';
import type { Scope } from '../../scope.ts';

type TcpProxy = NonNullable<NonNullable<TenantControlPlaneStatus['addons']>['tcpProxy']>;

const named = { name: proxyName, namespace: proxyNamespace };

/**
 * The status of the add-on after a reconcile. Its Deployment is named before it is created: what is named may be in the tenant.
 */
export function tcpProxyStatus(scope: Readonly<Scope>, words: StatusWords): TcpProxy | undefined {
  const before = scope.tcp.status?.addons?.tcpProxy;
  const { isInside, isRecorded } = scope.addons.tcpProxy ?? {};
  if (isRecorded === true) return { enabled: false, ...before, deployment: named };
  if (isInside === false && before !== undefined) return { enabled: false };
  if (isInside !== true || before?.enabled === true) return before;
  const object = { ...named, lastUpdate: words.at };
  const role = { name: proxyRole, lastUpdate: words.at };
  return {
    enabled: true,
    deployment: object,
    service: object,
    serviceAccount: object,
    clusterRole: role,
    clusterRoleBinding: role,
  };
}
