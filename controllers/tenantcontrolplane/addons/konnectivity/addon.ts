import { kinds } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import { servingCertificate } from '../../endpoint/pods-have-san.ts';
import { isOnTheWay } from '../../endpoint/previous-endpoint.ts';
import { needed } from '../../scope.ts';
import type { Scope, SecretFacts } from '../../scope.ts';
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
  return { set: { manifests: konnectivityAgentManifests(tcp, { address, version: targetVersion(scope) }) } };
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
  serving: (tcp, endpoint, secrets) =>
    tcp.spec.addons.konnectivity === undefined
      ? []
      : [servingCertificate(konnectivitySecret(tcp), agentHost(tcp, endpoint), secrets)],
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
    (...args) =>
      args[0].tcp.spec.controlPlane.deployment.replicas === 0 ? undefined : whileInside('konnectivity')(...args),
  ],
  status: konnectivityStatus,
  renewal: ({ addons }) => addons.konnectivity?.renewal,
};
