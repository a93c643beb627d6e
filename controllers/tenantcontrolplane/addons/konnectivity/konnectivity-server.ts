import { ports, tenantObjects } from '../../../../api/names.ts';
import type { AddonServer } from '../../shared/addon-server.ts';

/** Name of the agents' workload and ServiceAccount inside a tenant. */
export const agentName = 'konnectivity-agent';

/** Where they are. */
export const agentNamespace = 'kube-system';

/** Ports of the konnectivity server besides the one for agents. Only the kubelet connects to the second one. */
export const konnectivityPorts = { admin: 8133, health: 8134 } as const;

/** The server that agents dial, at a host name of its own. */
export const konnectivityServer: AddonServer = {
  portName: ports.konnectivity,
  port: ({ spec }) => spec.addons.konnectivity?.server.port,
  ownPorts: Object.values(konnectivityPorts),
  hostname: {
    subdomain: 'konnectivity',
    field: 'spec.addons.konnectivity.server.hostname',
    given: ({ spec }) => spec.addons.konnectivity?.server.hostname,
    dialed({ status }) {
      const { host = '', lastUpdate } = status?.addons?.konnectivity?.agent ?? {};
      return host === '' ? undefined : { host, sinceMs: Date.parse(lastUpdate ?? '1970-01-01T00:00:00Z') };
    },
  },
  routeName: (tenant) => tenantObjects(tenant).konnectivityRoute,
  tlsRouteComponent: 'konnectivity_gateway_routes',
};
