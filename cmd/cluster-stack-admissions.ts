import type { ClusterStack } from '../api/clusterstack/cluster-stack.ts';
import type { ClusterStackRelease } from '../api/clusterstack/cluster-stack-release.ts';
import { InvalidInputError } from '../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../kubeadm/invalid-input-error.ts';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from '../runtime/admission.ts';
import type { Cluster } from '../runtime/cluster.ts';
import { liveUse } from '../stacks/live-use.ts';
import { releaseDeletionComplaints, stackDeletionComplaints } from '../stacks/use-complaints.ts';

/**
 * The admission rules of cluster stacks, by the path that config/clusterstacks names. What a spec may say is kept by the definitions themselves; here is
 * what must not be deleted while Clusters use it.
 */
export function clusterStackAdmissions(cluster: Pick<Cluster, 'list'>): Readonly<Record<string, AdmissionHandler>> {
  return {
    '/validate-clusterstack-x-k8s-io-v1alpha1-clusterstack': (request, { signal }) =>
      deletion(request, async () =>
        stackDeletionComplaints(request.oldObject as ClusterStack, await liveUse(cluster, signal)),
      ),
    '/validate-clusterstack-x-k8s-io-v1alpha1-clusterstackrelease': (request, { signal }) =>
      deletion(request, async () =>
        releaseDeletionComplaints(request.oldObject as ClusterStackRelease, await liveUse(cluster, signal)),
      ),
  };
}

async function deletion(
  { operation, oldObject }: AdmissionRequest,
  complain: () => Promise<readonly InvalidInput[]>,
): Promise<AdmissionAnswer> {
  if (operation !== 'DELETE' || oldObject === undefined || oldObject === null) return { allowed: true };
  const complaints = await complain();
  if (complaints.length === 0) return { allowed: true };
  return {
    allowed: false,
    message: complaints.map((complaint) => new InvalidInputError(complaint).message).join('; '),
  };
}
