import { kinds } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { recheckable } from '../../../runtime/queue/repeats.ts';
import { splitHostPort } from '../../../kubeadm/networks.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { networkPolicy as policyManifests, policyComponent } from './network-policy.ts';
import type { ManagementApi } from './network-policy.ts';
import { budgetComponent, foreignBudgets, podDisruptionBudget } from './pod-disruption-budget.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';

/** Makes evictions take one pod after another, unless a budget of others already does. */
export async function disruptionBudget(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const wanted = podDisruptionBudget(tcp);
  const others = wanted.length === 0 ? [] : await budgetsOfOthers(scope, deps);
  const manifests = others.length === 0 ? wanted : [];
  await deps.applySet(scope, { component: budgetComponent, manifests, prunes: [kinds.PodDisruptionBudget] }, ctx);
  if (others.length === 0) return { is: 'done' };
  const message = `PodDisruptionBudget ${others.join(', ')} already covers the pods: Steward does not create its own, because a pod covered by two budgets cannot be evicted`;
  return { is: 'done', message };
}

async function budgetsOfOthers({ tcp }: Readonly<Scope>, deps: Dependencies): Promise<readonly string[]> {
  const { namespace } = tcp.metadata;
  const budgets = await deps.recentLists(kinds.PodDisruptionBudget, namespace, deps.foreignBudgets(namespace));
  const given = tcp.spec.controlPlane.deployment.podAdditionalMetadata?.labels;
  return foreignBudgets(tcp, { ...given, ...podSelector(tcp) }, budgets);
}

/** Applies the NetworkPolicy of the pods. */
export async function networkPolicy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const [management, stores] = await Promise.all([deps.managementApi(), storesInUse(scope, deps, ctx)]);
  const manifests = policyManifests({
    tcp: scope.tcp,
    port: needed(scope.endpoint, 'endpoint').port,
    service: needed(scope.service, 'service'),
    storePorts: stores.flatMap(portsOf),
    management,
    isMonitored: deps.monitoring !== undefined,
  });
  await deps.applySet(scope, { component: policyComponent, manifests, prunes: [kinds.NetworkPolicy] }, ctx);
  const missing = unknownApi(management);
  const isClosed = scope.tcp.spec.controlPlane.networkPolicy?.egress !== 'Open';
  if (missing === undefined || !isClosed) return { is: 'done' };
  const elsewhere = recheckable(missing, async () => unknownApi(await deps.managementApi()) !== missing);
  return { is: 'waiting', reason: 'ManagementApiUnknown', message: missing, afterMs: lookAgainMs, elsewhere };
}

/**
 * The Service and its EndpointSlice are not watched. All tenants use a common read, so that checking again costs no
 * reconcile. In milliseconds.
 */
const lookAgainMs = 60_000;

/** What is unknown about the addresses of the management cluster's API server, so that pods could reach it. */
function unknownApi({ serviceAddresses, hosts }: ManagementApi): string | undefined {
  const lacks = [
    ...(serviceAddresses.length === 0 ? ['Service default/kubernetes has no address'] : []),
    ...(hosts.length === 0 ? ['EndpointSlice default/kubernetes has no address or no port'] : []),
  ];
  if (lacks.length === 0) return undefined;
  return `the NetworkPolicy does not keep the pods from the API server of the management cluster, because ${lacks.join(' and ')}: if the API servers do not maintain these objects themselves, create them, or deny those addresses with your own NetworkPolicy`;
}

/** The DataStores that pods use, and the target of a migration. */
async function storesInUse(
  { tcp, observed }: Readonly<Scope>,
  { cluster }: Dependencies,
  { signal }: Context,
): Promise<readonly DataStore[]> {
  const present = [observed.dataStore, ...observed.overrideStores.values()].filter((store) => store !== undefined);
  const { dataStore: name = '' } = tcp.spec;
  if (name === '' || present.some(({ metadata }) => metadata.name === name)) return present;
  const target = await cluster.get(dataStore, { name }, { signal });
  return target === undefined ? present : [...present, target];
}

function portsOf({ spec }: DataStore): readonly number[] {
  return spec.endpoints.flatMap((endpoint) => {
    const { port } = splitHostPort(endpoint, 'spec.endpoints');
    return port === undefined ? [] : [port];
  });
}
