import type { ObjectAddress } from '../../cluster/kubernetes-client.ts';

/** What a scenario left on a management cluster that it shares. */
export interface ClusterLeftovers {
  /** Objects that were not there before. */
  readonly objects: readonly ObjectAddress[];
  /** Machines that were not there before. */
  readonly machines: readonly string[];
  /** Everything that differs, also what is missing or was changed; one line each. */
  readonly lines: readonly string[];
}

/** Jobs end and are removed by themselves. */
const passing = 'object batch/v1 Job ';

/** Objects that others are made from go first: who is deleted while its owner is there comes back, or is missed by its owner. */
const order: readonly (readonly string[])[] = [
  ['Cluster'],
  ['StewardControlPlane'],
  ['ControlPlanePool', 'ControlPlaneClaim'],
  ['TenantControlPlane'],
  ['DataStore', 'KubeconfigGenerator'],
];

/** The place of kinds that are not named, and of nodes: pods end with a kubelet sooner than without. */
const usual = order.length;
const ofNodes = usual + 1;

/**
 * Compares two states of a management cluster as `readClusterState` gives them. What lies in a namespace that was not there before goes
 * with it and has no line of its own, unless it is of a kind that has to be deleted before.
 */
export function clusterLeftovers(before: readonly string[], now: readonly string[]): ClusterLeftovers {
  const more = now.filter((line) => !before.includes(line));
  const fewer = before.filter((line) => !now.includes(line) && !line.startsWith(passing));
  const added = more.flatMap((line) => addressOf(line) ?? []);
  const namespaces = new Set(added.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name));
  const goesAlong = ({ kind, namespace = '' }: ObjectAddress): boolean =>
    namespaces.has(namespace) && rank(kind) === usual;
  const shown = (line: string): boolean => {
    const address = addressOf(line);
    return address === undefined || !goesAlong(address);
  };
  return {
    objects: added.filter((address) => !goesAlong(address)),
    machines: more.flatMap((line) => /^machine (.+)$/.exec(line)?.[1] ?? []),
    lines: [...more.filter(shown).map((line) => `+ ${line}`), ...fewer.map((line) => `- ${line}`)],
  };
}

/**
 * What is to be deleted now: later ones wait until these are gone. Machines go at once, but for those of Clusters, which are removed with
 * them, and for nodes of the management cluster itself.
 */
export function nextToDelete({ objects, machines }: ClusterLeftovers): Pick<ClusterLeftovers, 'objects' | 'machines'> {
  const first = Math.min(ofNodes, ...objects.map(({ kind }) => rank(kind)));
  const nodes = objects.filter(({ kind }) => kind === 'Node').map(({ name }) => name);
  const isFree = (machine: string): boolean => first > 0 && (first === ofNodes || !nodes.includes(machine));
  return { objects: objects.filter(({ kind }) => rank(kind) === first), machines: machines.filter(isFree) };
}

function rank(kind: string): number {
  if (kind === 'Node') return ofNodes;
  const found = order.findIndex((kinds) => kinds.includes(kind));
  return found < 0 ? usual : found;
}

/** The object that a line is about: `object <apiVersion> <kind> <namespace>/<name>`, with no namespace where there is none. */
function addressOf(line: string): ObjectAddress | undefined {
  const [, apiVersion, kind, namespace, name] = /^object (\S+) (\S+) ([^/\s]*)\/(\S+)$/.exec(line) ?? [];
  if (apiVersion === undefined || kind === undefined || name === undefined) return undefined;
  return { apiVersion, kind, name, ...(namespace === '' || namespace === undefined ? {} : { namespace }) };
}
