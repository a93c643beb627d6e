import type { V1SubjectAccessReview, V1SubjectAccessReviewSpec } from '@kubernetes/client-node';
import type { KindRef, Resource } from '../../api/meta.ts';
import type { Cluster } from '../client/cluster.ts';

type Review = Omit<V1SubjectAccessReview, 'apiVersion' | 'kind' | 'metadata'> & Resource;

const kind: KindRef<Review> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/** Whether the API server allows a user to do something. */
export async function isAllowed(
  cluster: Pick<Cluster, 'create'>,
  spec: V1SubjectAccessReviewSpec,
  signal: AbortSignal,
): Promise<boolean> {
  // Reviews are answered, not stored; the API server refuses one with a name.
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: kind.kind, metadata: { name: '' }, spec };
  const { status } = await cluster.create(kind, review, { signal });
  return status?.allowed === true;
}
