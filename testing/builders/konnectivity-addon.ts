import type { TenantControlPlaneSpec } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

type Konnectivity = NonNullable<TenantControlPlaneSpec['addons']['konnectivity']>;

/** What a test says about the add-on; the rest is as the API server defaults it. */
export function konnectivityAddon(
  changes: { readonly server?: Partial<Konnectivity['server']>; readonly agent?: Partial<Konnectivity['agent']> } = {},
): Konnectivity {
  return {
    server: { port: 8132, image: 'registry.k8s.io/kas-network-proxy/proxy-server', ...changes.server },
    agent: {
      image: 'registry.k8s.io/kas-network-proxy/proxy-agent',
      mode: 'DaemonSet',
      tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
      hostNetwork: false,
      ...changes.agent,
    },
  };
}
