import { kinds } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { splitHostPort } from '../../../kubeadm/networks.ts';
import { podSelector } from '../components/deployment.ts';
import { networkPolicy as policyManifests, policyComponent } from '../components/network-policy.ts';
import { budgetComponent, foreignBudgets, podDisruptionBudget } from '../components/pod-disruption-budget.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';

/** Evictions take one pod after another, unless somebody else sees to that. */
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
  const message = `PodDisruptionBudget ${others.join(', ')} covers the pods already, and with two none could be evicted: this one is left in charge`;
  return { is: 'done', message };
}

async function budgetsOfOthers({ tcp }: Readonly<Scope>, deps: Dependencies): Promise<readonly string[]> {
  const budgets = await deps.recentLists(kinds.PodDisruptionBudget, tcp.metadata.namespace ?? '');
  const given = tcp.spec.controlPlane.deployment.podAdditionalMetadata?.labels;
  return foreignBudgets(tcp, { ...given, ...podSelector(tcp) }, budgets);
}

/** Who may talk to the pods, and to whom they may. */
export async function networkPolicy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const [management, stores] = await Promise.all([deps.managementApi(ctx.signal), storesInUse(scope, deps, ctx)]);
  const manifests = policyManifests({
    tcp: scope.tcp,
    port: needed(scope.endpoint, 'endpoint').port,
    storePorts: stores.flatMap(portsOf),
    management,
  });
  await deps.applySet(scope, { component: policyComponent, manifests, prunes: [kinds.NetworkPolicy] }, ctx);
  return { is: 'done' };
}

/** Those that pods use, and the one that the data is on its way to. */
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
