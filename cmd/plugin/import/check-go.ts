import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isSeenBySteward, recordIn } from './go-facts.ts';
import type { GoFacts } from './go-facts.ts';
import { isPausedByOther } from './held.ts';
import { recordOf } from './identity.ts';

/** States of a control plane that does nothing else at the moment. */
const restful: ReadonlySet<string> = new Set(['Ready', 'Sleeping', 'WriteLimited']);

/** True once nothing of the Go Steward is left to take over. */
export function isImportedFromGo(facts: GoFacts): boolean {
  return facts.tcp !== undefined && isSeenBySteward(facts.tcp) && recordIn(facts) === undefined;
}

/** Why the control plane cannot be taken over. Each sentence says what to do. */
export function problemsOfGo(facts: GoFacts): readonly string[] {
  const { tcp, all, identity, now } = facts;
  if (tcp === undefined || recordIn(facts) !== undefined || isSeenBySteward(tcp)) return [];
  const its = `TenantControlPlane ${tcp.metadata.namespace}/${tcp.metadata.name}`;
  const state = tcp.status?.kubernetesResources?.version?.status ?? 'Unknown';
  const { dataStoreName, setup } = tcp.status?.storage ?? {};
  const sharing = all.filter(
    ({ metadata, status }) =>
      metadata.uid !== tcp.metadata.uid &&
      status?.storage?.dataStoreName === dataStoreName &&
      status?.storage?.setup?.schema === setup?.schema,
  );
  return [
    ...(tcp.metadata.deletionTimestamp === undefined ? [] : [`${its} is being deleted`]),
    ...(isPausedByOther(tcp) ? [`${its} is paused by someone else: remove that annotation first`] : []),
    ...(restful.has(state) ? [] : [`${its} has the status ${state}: wait until it is Ready, or repair it first`]),
    ...((tcp.spec.dataStore ?? dataStoreName) === dataStoreName
      ? []
      : [
          `${its} is to be migrated to DataStore ${tcp.spec.dataStore ?? ''}: let the Go Steward finish that, or set it back`,
        ]),
    ...(recordOf(identity, now) === undefined
      ? [
          `endpoint, CA, service-account key or the names of the data of ${its} are not known: wait until its status has them`,
        ]
      : []),
    ...sharing.map(
      ({ metadata }) =>
        `${its} shares its data (schema ${setup?.schema ?? ''}) with ${metadata.namespace}/${metadata.name}: both would write to it; separate them first`,
    ),
  ];
}

/** What a person should know before. */
export function warningsOfGo({ all, tcp }: GoFacts): readonly string[] {
  const others = all.filter((one) => one.metadata.uid !== tcp?.metadata.uid && waits(one));
  if (others.length === 0) return [];
  return [
    `${others.length} other TenantControlPlanes are paused with this one, since no two managers can share a cluster: they go on running, and nothing reconciles them until each has been imported, too`,
  ];
}

/** True for one that still belongs to the Go Steward and is not paused. */
export function waits(tcp: TenantControlPlane): boolean {
  return !isSeenBySteward(tcp) && !isPausedByOther(tcp) && tcp.metadata.deletionTimestamp === undefined;
}
