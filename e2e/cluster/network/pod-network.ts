import { cniConflist } from './cni-conflist.ts';
import type { KubernetesClient, PlainObject } from '../kubernetes-client.ts';
import { addRoute, removeRoute } from './links.ts';
import type { Machine } from '../machines/machine.ts';
import { watchObjects } from '../watch-objects.ts';

/** A node as the pod network needs it. */
export interface NodeNetwork {
  readonly name: string;
  readonly podCidr: string;
}

/** A route to be set in a machine. */
export interface PodRoute {
  readonly machine: string;
  readonly range: string;
  readonly via: string;
}

/** Every machine's routes to the pods of all others, independent of the order of the nodes. */
export function podRoutes(
  nodes: readonly NodeNetwork[],
  machines: readonly { readonly name: string; readonly address: string }[],
): readonly PodRoute[] {
  const placed = nodes.flatMap((node) => {
    const machine = machines.find(({ name }) => name === node.name);
    return machine === undefined ? [] : [{ ...node, address: machine.address }];
  });
  return placed.flatMap((from) =>
    placed
      .filter((to) => to.name !== from.name)
      .map((to) => ({ machine: from.name, range: to.podCidr, via: to.address })),
  );
}

/**
 * The pod network of a cluster whose nodes are machines, node names being machine names: writes each node's CNI
 * configuration as soon as the cluster has given it a pod range, unless only routes are wanted, and keeps routes between all of them.
 * Runs until aborted.
 */
export async function runPodNetwork(
  client: KubernetesClient,
  machines: () => Promise<readonly Machine[]>,
  options: {
    readonly signal: AbortSignal;
    readonly onError: (error: unknown) => void;
    readonly onlyRoutes?: boolean;
  },
): Promise<void> {
  const nodes = new Map<string, NodeNetwork>();
  const set = new Map<string, PodRoute>();
  const settle = async (): Promise<void> => {
    const present = await machines();
    const wanted = new Map(podRoutes([...nodes.values()], present).map((route) => [keyOf(route), route]));
    const initOf = (name: string): number | undefined =>
      present.find((machine) => machine.name === name)?.record.init?.pid;
    for (const [key, route] of set) {
      const init = initOf(route.machine);
      if (wanted.has(key)) continue;
      // A machine that is gone took its routes along.
      if (init !== undefined) await removeRoute(route.range, route.via, init);
      set.delete(key);
    }
    for (const [key, route] of wanted) {
      const init = initOf(route.machine);
      if (set.has(key) || init === undefined) continue;
      await addRoute(route.range, route.via, init);
      set.set(key, route);
    }
  };
  await watchObjects(
    client.config,
    '/api/v1/nodes',
    async ({ type, object }) => {
      const node = readNode(object);
      if (node === undefined) return;
      const known = nodes.get(node.name);
      if (type === 'DELETED') {
        nodes.delete(node.name);
        await settle();
        return;
      }
      if (known?.podCidr === node.podCidr) return;
      const machine = (await machines()).find(({ name }) => name === node.name);
      if (options.onlyRoutes !== true)
        await machine?.writeFile('/etc/cni/net.d/10-bridge.conflist', cniConflist(node.podCidr));
      nodes.set(node.name, node);
      await settle();
    },
    options,
  );
}

function readNode(object: PlainObject): NodeNetwork | undefined {
  const podCidr = (object.spec as { podCIDR?: string } | undefined)?.podCIDR;
  const name = object.metadata?.name;
  return podCidr === undefined || name === undefined ? undefined : { name, podCidr };
}

function keyOf({ machine, range, via }: PodRoute): string {
  return `${machine} ${range} ${via}`;
}
