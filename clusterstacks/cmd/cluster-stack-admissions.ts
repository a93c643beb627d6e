import type { ClusterStack } from '../api/cluster-stack.ts';
import type { ClusterStackRelease } from '../api/cluster-stack-release.ts';
import { InvalidInputError } from '../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest } from '../../runtime/admission/admission.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { liveUse } from '../sources/live-use.ts';
import { validateReleaseDeletion, validateStackDeletion } from '../sources/validate-use.ts';

/**
 * The admission rules of cluster stacks, by the path that config/clusterstacks names. The definitions validate specs; these rules
 * protect what must not be deleted while Clusters use it.
 */
export function clusterStackAdmissions(cluster: Pick<Cluster, 'list'>): Readonly<Record<string, AdmissionHandler>> {
  return {
    '/validate-clusterstack-x-k8s-io-v1alpha1-clusterstack': (request, { signal }) =>
      deletion(request, async () =>
        validateStackDeletion(request.oldObject as ClusterStack, await liveUse(cluster, signal)),
      ),
    '/validate-clusterstack-x-k8s-io-v1alpha1-clusterstackrelease': (request, { signal }) =>
      deletion(request, async () =>
        validateReleaseDeletion(request.oldObject as ClusterStackRelease, await liveUse(cluster, signal)),
      ),
  };
}

async function deletion(
  { operation, oldObject }: AdmissionRequest,
  validate: () => Promise<readonly InvalidInput[]>,
): Promise<AdmissionAnswer> {
  if (operation !== 'DELETE' || oldObject === undefined || oldObject === null) return { allowed: true };
  const errors = await validate();
  if (errors.length === 0) return { allowed: true };
  return {
    allowed: false,
    message: errors.map((error) => new InvalidInputError(error).message).join('; '),
  };
}
