import { containers } from '../../../../api/names.ts';
import type { KubernetesVersion } from '../../../../kubeadm/versions.ts';
import { credentialGuards, identityGuards } from '../../workload/guarded-arguments.ts';
import type { Program } from '../../workload/guarded-arguments.ts';

const at = 'spec.addons.konnectivity';

/** The programs whose arguments authors may set: the server in the pods, the agents inside the tenant. */
export const konnectivityPrograms: readonly Program[] = [
  {
    component: 'konnectivityServer',
    container: containers.konnectivity,
    at: `${at}.server.extraArgs`,
    args: ({ spec }) => spec.addons.konnectivity?.server.extraArgs ?? [],
    guards: [
      ...credentialGuards('kubeconfig', 'server-cert', 'server-key', 'cluster-cert', 'cluster-key'),
      ...identityGuards(
        ...['server-ca-cert', 'cluster-ca-cert', 'agent-namespace', 'agent-service-account', 'authentication-audience'],
      ),
      ...['server-port', 'server-bind-address', 'uds-name', 'admin-bind-address'].map((flag) => ({
        flag,
        why: 'opens the tunnel to clients other than the API server in the same pod',
        instead: 'leave it out',
      })),
    ],
    rights({ spec }) {
      const server = spec.addons.konnectivity?.server;
      if (server === undefined) return undefined;
      const { securityContext, image, version = '' } = server;
      return { at: `${at}.server`, securityContext, image: `${image}:${version}` };
    },
  },
  {
    component: 'konnectivityAgent',
    at: `${at}.agent.extraArgs`,
    args: ({ spec }) => spec.addons.konnectivity?.agent.extraArgs ?? [],
    guards: [
      ...credentialGuards('agent-cert', 'agent-key', 'kubeconfig', 'service-account-token-path'),
      ...identityGuards('ca-cert'),
      ...['proxy-server-host', 'proxy-server-port'].map((flag) => ({
        flag,
        why: 'sends the agents’ credentials to another server',
        instead: 'expose the endpoint with spec.controlPlane',
      })),
    ],
  },
];

/**
 * Image and tag. The minors of konnectivity follow those of Kubernetes, and the project recommends equal minors
 * (https://github.com/kubernetes-sigs/apiserver-network-proxy, "Versioning and releases").
 */
export function konnectivityImage(
  { minor }: KubernetesVersion,
  { image, version = '' }: { readonly image: string; readonly version?: string | undefined },
): string {
  return `${image}:${version === '' ? `v0.${minor}.0` : version}`;
}
