import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { mostReplicas } from '../../shared/replicas.ts';
import { mergeArguments } from '../../shared/arguments.ts';
import { konnectivitySocket } from './egress-selector.ts';
import { agentName, agentNamespace, konnectivityPorts } from './konnectivity-server.ts';
import { konnectivityUser } from './server-leaves.ts';

/** Where the konnectivity server finds its files. */
export const konnectivityFiles = {
  kubeconfig: '/etc/kubernetes/konnectivity-server.conf',
  pki: '/etc/konnectivity/pki',
} as const;

/** Flags of proxy-server; our values win, because the pod and the agents rely on them. */
export function konnectivityServerArguments(tcp: TenantControlPlane, port: number): string[] {
  const extra = tcp.spec.addons.konnectivity?.server.extraArgs;
  const ours = {
    'admin-port': String(konnectivityPorts.admin),
    'agent-namespace': agentNamespace,
    'agent-port': String(port),
    'agent-service-account': agentName,
    'authentication-audience': konnectivityUser,
    'cluster-cert': `${konnectivityFiles.pki}/tls.crt`,
    'cluster-key': `${konnectivityFiles.pki}/tls.key`,
    'health-port': String(konnectivityPorts.health),
    kubeconfig: konnectivityFiles.kubeconfig,
    mode: 'grpc',
    // An agent connects to this many servers. The count stays above 0 so that the pods do not change when a control plane sleeps,
    // and is the highest while an autoscaler changes their number, which must not replace the pods either.
    'server-count': String(Math.max(mostReplicas(tcp), 1)),
    'server-port': '0',
    'uds-name': konnectivitySocket,
  };
  return mergeArguments(ours, { extra, winner: 'operator' });
}
