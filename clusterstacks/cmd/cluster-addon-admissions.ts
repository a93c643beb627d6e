import { asStored } from '../../api/as-stored.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../api/cluster-addon.ts';
import { clusterAddon } from '../api/cluster-addon.ts';
import type { DraftOf, KindRef, Resource } from '../../api/meta.ts';
import type { ClusterChange } from '../controllers/clusteraddon/admission.ts';
import {
  validateAddon,
  validateCluster,
  clusterWarnings,
  withReleaseVersion,
} from '../controllers/clusteraddon/admission.ts';
import { classFacts } from '../controllers/clusteraddon/class-facts.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from '../../runtime/admission/admission.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { describeFailure } from '../../runtime/observe/describe-failure.ts';

/**
 * The admission rules of Clusters that are made from releases, and of their ClusterAddons, by path. Clusters of other classes are
 * admitted as they come. Nothing is written, so that a dry run is like any other.
 */
export function clusterAddonAdmissions(cluster: Pick<Cluster, 'get'>): Readonly<Record<string, AdmissionHandler>> {
  return {
    '/mutate-cluster-x-k8s-io-v1beta2-cluster': (request, { signal }) =>
      orAdmitted(async () => {
        const draft = draftOf(capiCluster, request);
        const object = asStored(draft);
        const changed = withReleaseVersion(object, await classFacts(cluster, object, signal));
        if (changed === object) return { allowed: true };
        return { allowed: true, object: { ...changed, metadata: draft.metadata } };
      }),
    '/validate-cluster-x-k8s-io-v1beta2-cluster': (request, { signal }) =>
      orAdmitted(async () => {
        const change = await changeOf(cluster, request, signal);
        return { ...verdict(validateCluster(change)), warnings: clusterWarnings(change) };
      }),
    '/validate-clusterstack-x-k8s-io-v1alpha1-clusteraddon': (request) => {
      const old = (request.oldObject ?? undefined) as ClusterAddon | undefined;
      return verdict(validateAddon(objectOf(clusterAddon, request), old));
    },
  };
}

/** Most Clusters do not use a cluster stack, so an error while checking one must not block writes to it. */
async function orAdmitted(evaluate: () => Promise<AdmissionAnswer>): Promise<AdmissionAnswer> {
  try {
    return await evaluate();
  } catch (error) {
    const warning = `Steward could not check whether its class belongs to a cluster stack: ${describeFailure(error)}`;
    return { allowed: true, warnings: [warning] };
  }
}

async function changeOf(
  client: Pick<Cluster, 'get'>,
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<ClusterChange> {
  const cluster = objectOf(capiCluster, request);
  const old = (request.oldObject ?? undefined) as CapiCluster | undefined;
  const facts = await classFacts(client, cluster, signal);
  if (old === undefined) return { cluster, facts };
  return { cluster, old, facts, oldFacts: await classFacts(client, old, signal) };
}

function objectOf<T extends Resource>(wanted: KindRef<T>, request: AdmissionRequest): T {
  return asStored(draftOf(wanted, request));
}

function draftOf<T extends Resource>(wanted: KindRef<T>, { object, kind, operation }: AdmissionRequest): DraftOf<T> {
  if (object === undefined || object === null || kind.kind !== wanted.kind) {
    throw new Error(`expected a ${wanted.kind}, but the ${operation} request is about ${kind.kind}`);
  }
  return object as DraftOf<T>;
}

function verdict(errors: readonly InvalidInput[]): AdmissionAnswer {
  if (errors.length === 0) return { allowed: true };
  const message = errors.map((invalid) => new InvalidInputError(invalid).message).join('; ');
  return { allowed: false, message };
}
