import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { mergeArguments } from '../arguments.ts';
import { agentName, agentNamespace } from './agent-names.ts';
import { konnectivitySocket } from './egress-selector.ts';
import { konnectivityUser } from './server-leaves.ts';

/** Where the konnectivity server finds its files. */
export const konnectivityFiles = {
  kubeconfig: '/etc/kubernetes/konnectivity-server.conf',
  pki: '/etc/konnectivity/pki',
} as const;

/** Ports of the konnectivity server beside that for agents. Only the kubelet asks at the second. */
export const konnectivityPorts = { admin: 8133, health: 8134 } as const;

/** Flags of proxy-server; ours win, because the pod and the agents are built on them. */
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
    // An agent keeps a connection to each of so many servers. A control plane that sleeps need not be changed for it.
    'server-count': String(Math.max(tcp.spec.controlPlane.deployment.replicas, 1)),
    'server-port': '0',
    'uds-name': konnectivitySocket,
  };
  return mergeArguments(ours, { extra, winner: 'operator' });
}
