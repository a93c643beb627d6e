import { kinds } from '../../../../api/core/kinds.ts';
import type { Secret } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isAsleep } from '../../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { isIpAddress } from '../../../../kubeadm/networks.ts';
import { arePodsNamed, servingCertificate } from '../../endpoint/pods-have-san.ts';
import type { ServingCertificate } from '../../endpoint/pods-have-san.ts';
import { isOnTheWay } from '../../endpoint/previous-endpoint.ts';
import { needed } from '../../scope.ts';
import type { Scope, SecretFacts } from '../../scope.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import { targetVersion } from '../../upgrade/upgrade-decision.ts';
import type { Addon } from '../addon.ts';
import type { Wanted } from '../inside-phase.ts';
import { ownsSecret, whileInside, whilePodsUse } from '../retention.ts';
import { agentAddress, agentHost } from './agent-address.ts';
import { agentKinds, konnectivityAgentManifests } from './agent-manifests.ts';
import { egressComponent } from './egress-selector.ts';
import { konnectivityCredentials } from './konnectivity-credentials-phase.ts';
import { konnectivityPrograms } from './konnectivity-programs.ts';
import { konnectivityServer } from './konnectivity-server.ts';
import { konnectivityStatus } from './konnectivity-status.ts';
import { konnectivityPod } from './server-container.ts';
import { konnectivitySecret } from './server-leaves.ts';
import { tunnelIsMissing } from './tunnel-is-missing.ts';
import { validateKonnectivity } from './validate-konnectivity.ts';

interface Facts {
  /** The Secrets of the server and the ConfigMap that configures kube-apiserver to use the tunnel. */
  readonly mounted: SecretFacts;
  /** When the first certificate must be renewed, in milliseconds since the epoch. */
  readonly renewal: number;
  /** Where the agents inside the tenant were sent. */
  readonly host: string;
}

/** What the phase reports when the agents have been applied. */
interface Later {
  readonly message: string;
  readonly afterMs?: number | undefined;
}

/** True when the status says that agents were applied. */
function hasAgents({ tcp }: Readonly<Scope>): boolean {
  return tcp.status?.addons?.konnectivity?.agent !== undefined;
}

/** The Secrets of the server. */
function secretNames({ tcp }: Readonly<Scope>): readonly string[] {
  const { konnectivityCertificate, konnectivityKubeconfig } = tenantObjects(tcp.metadata.name);
  return [konnectivityCertificate, konnectivityKubeconfig];
}

function wanted(scope: Readonly<Scope>): Wanted {
  const { tcp } = scope;
  // Agents that dial the previous endpoint find it only in their own manifests.
  if (isOnTheWay(scope) && hasAgents(scope)) {
    return { then: { message: 'the agents will switch to the new endpoint when all other clients do' } };
  }
  const service = needed(scope.service, 'service');
  const { port } = needed(tcp.spec.addons.konnectivity, 'spec.addons.konnectivity').server;
  const address = agentAddress(tcp, { endpoint: needed(scope.target, 'target'), service, port });
  if (address === undefined) {
    const message = `Service ${service.metadata.name} has no node port for konnectivity agents yet`;
    return { then: { is: 'waiting', reason: 'NotExposed', message } };
  }
  const before = formerHost(scope, address.host);
  const host = before?.host ?? address.host;
  const input = { address: { ...address, host }, version: targetVersion(scope) };
  return { set: { manifests: konnectivityAgentManifests(tcp, input) }, facts: { host }, then: before?.then };
}

/** The host name that agents keep until they can connect at the wanted one; undefined when they can. */
function formerHost(scope: Readonly<Scope>, wanted: string): { host: string; then: Later } | undefined {
  const { tcp, observed } = scope;
  const host = konnectivityServer.hostname?.dialed(tcp)?.host;
  if (host === undefined || host === wanted || isIpAddress(host) || isIpAddress(wanted)) return undefined;
  const { takeover } = needed(scope.publication, 'publication');
  const later = (until: string, afterMs?: number): { host: string; then: Later } => {
    const message = `the konnectivity agents still dial ${host}; they switch to ${wanted} when ${until}`;
    return { host, then: { message, afterMs } };
  };
  if (!takeover.is) return later(takeover.until, takeover.afterMs);
  if (arePodsNamed(tcp, needed(scope.target, 'target'), observed, [{ serving }])) return undefined;
  return later('every pod serves a certificate with the new name');
}

/** The serving certificate of the server, which must have the name that agents dial. */
function serving(
  tcp: TenantControlPlane,
  endpoint: Endpoint,
  secrets: ReadonlyMap<string, Secret>,
): readonly ServingCertificate[] {
  if (tcp.spec.addons.konnectivity === undefined) return [];
  return [servingCertificate(konnectivitySecret(tcp), agentHost(tcp, endpoint), secrets)];
}

/** The tunnel from kube-apiserver to nodes and pods: a server in the pods, agents inside the tenant. */
export const konnectivity: Addon<'konnectivity', Facts> = {
  name: 'konnectivity',
  inside: {
    component: 'konnectivity',
    kinds: agentKinds,
    before: ['unpublication'],
    wanted,
    // The status knows it if the Secrets were removed while the tenant slept.
    isLeft: (scope) => hasAgents(scope) || secretNames(scope).some((name) => ownsSecret(scope, name)),
    retainWhile: [whilePodsUse(egressComponent, 'the konnectivity agents will be removed once no pod needs them')],
  },
  phases: [
    [
      'konnectivity-credentials',
      'CertificatesReady',
      ['authorities', 'endpoint'],
      konnectivityCredentials,
      { before: ['workload'] },
    ],
  ],
  images({ spec }) {
    const { server, agent } = spec.addons.konnectivity ?? {};
    return [
      ['spec.addons.konnectivity.server.image', server?.image, 'name'],
      ['spec.addons.konnectivity.server.version', server?.version, 'tag'],
      ['spec.addons.konnectivity.agent.image', agent?.image, 'name'],
      ['spec.addons.konnectivity.agent.version', agent?.version, 'tag'],
    ];
  },
  programs: konnectivityPrograms,
  validate: validateKonnectivity,
  server: konnectivityServer,
  pod: konnectivityPod,
  mounted: ({ addons }) => addons.konnectivity?.mounted ?? {},
  unprepared: tunnelIsMissing,
  serving,
  unwanted(scope) {
    if (scope.tcp.spec.addons.konnectivity !== undefined) return [];
    const { konnectivityEgress: name } = tenantObjects(scope.tcp.metadata.name);
    return [
      { kind: kinds.ConfigMap, name },
      ...secretNames(scope).map((secret) => ({ kind: kinds.Secret, name: secret })),
    ];
  },
  retainWhile: [
    whilePodsUse(egressComponent),
    // A tenant that sleeps keeps its agents until it wakes; its status remembers them.
    (...args) => (isAsleep(args[0].tcp) ? undefined : whileInside('konnectivity')(...args)),
  ],
  status: konnectivityStatus,
  renewal: ({ addons }) => addons.konnectivity?.renewal,
};
