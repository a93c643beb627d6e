import type { CapiCluster } from '../api/cluster-api/kinds.ts';
import { capiCluster } from '../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../api/clusterstack/cluster-addon.ts';
import { clusterAddon } from '../api/clusterstack/cluster-addon.ts';
import type { KindRef, Resource } from '../api/meta.ts';
import type { ClusterChange } from '../controllers/clusteraddon/admission.ts';
import {
  addonComplaints,
  clusterComplaints,
  clusterWarnings,
  withReleaseVersion,
} from '../controllers/clusteraddon/admission.ts';
import { classFacts } from '../controllers/clusteraddon/class-facts.ts';
import { InvalidInputError } from '../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../kubeadm/invalid-input-error.ts';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from '../runtime/admission.ts';
import type { Cluster } from '../runtime/cluster.ts';
import { describeFailure } from '../runtime/describe-failure.ts';

/**
 * The admission rules of Clusters that are made from releases, and of their ClusterAddons, by path. Clusters of other classes are
 * admitted as they come. Nothing is written, so that a dry run is like any other.
 */
export function clusterAddonAdmissions(cluster: Pick<Cluster, 'get'>): Readonly<Record<string, AdmissionHandler>> {
  return {
    '/mutate-cluster-x-k8s-io-v1beta2-cluster': (request, { signal }) =>
      orUnjudged(async () => {
        const object = objectOf(capiCluster, request);
        const changed = withReleaseVersion(object, await classFacts(cluster, object, signal));
        return changed === object ? { allowed: true } : { allowed: true, object: changed };
      }),
    '/validate-cluster-x-k8s-io-v1beta2-cluster': (request, { signal }) =>
      orUnjudged(async () => {
        const change = await changeOf(cluster, request, signal);
        return { ...verdict(clusterComplaints(change)), warnings: clusterWarnings(change) };
      }),
    '/validate-clusterstack-x-k8s-io-v1alpha1-clusteraddon': (request) => {
      const old = (request.oldObject ?? undefined) as ClusterAddon | undefined;
      return verdict(addonComplaints(objectOf(clusterAddon, request), old));
    },
  };
}

/** Most Clusters are none of ours: what cannot be found out about one keeps nobody from writing it. */
async function orUnjudged(judge: () => Promise<AdmissionAnswer>): Promise<AdmissionAnswer> {
  try {
    return await judge();
  } catch (error) {
    const warning = `Steward could not look whether its class is of a cluster stack: ${describeFailure(error)}`;
    return { allowed: true, warnings: [warning] };
  }
}

async function changeOf(
  door: Pick<Cluster, 'get'>,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<ClusterChange> {
  const cluster = objectOf(capiCluster, request);
  const old = (request.oldObject ?? undefined) as CapiCluster | undefined;
  const facts = await classFacts(door, cluster, signal);
  if (old === undefined) return { cluster, facts };
  return { cluster, old, facts, oldFacts: await classFacts(door, old, signal) };
}

function objectOf<T extends Resource>(wanted: KindRef<T>, { object, kind, operation }: AdmissionRequest): T {
  if (object === undefined || object === null || kind.kind !== wanted.kind) {
    throw new Error(`a ${wanted.kind} was expected, the ${operation} request is about ${kind.kind}`);
  }
  return object as T;
}

function verdict(complaints: readonly InvalidInput[]): AdmissionAnswer {
  if (complaints.length === 0) return { allowed: true };
  const message = complaints.map((complaint) => new InvalidInputError(complaint).message).join('; ');
  return { allowed: false, message };
}
