import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clusterRole, clusterRoleBinding, nodesGroup } from '../../../../kubeadm/rbac.ts';

/** The kinds of the objects that workers need inside the tenant. */
export const nodeManifestKinds: readonly KindRef[] = [kinds.ClusterRole, kinds.ClusterRoleBinding];

const reader = 'steward:node-endpointslice-reader';
const nodes = { kind: 'Group', name: nodesGroup } as const;

/**
 * The objects that Talos workers need inside the tenant: they find their control plane in the EndpointSlices of the Service
 * `kubernetes` (https://docs.siderolabs.com/talos, StaticEndpointsConfig). The binding for serving certificates approves none by
 * itself: it grants what kubeadm grants for client certificates, under the name that existing installations use.
 */
export function nodeManifests({ spec }: TenantControlPlane): readonly Manifest[] {
  const bootstrap = spec.addons.workerBootstrap;
  if (bootstrap === undefined) return [];
  return [
    clusterRole(reader, [
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
    ]),
    clusterRoleBinding(reader, reader, nodes),
    ...(bootstrap.csrApproval.autoApprove
      ? [
          clusterRoleBinding(
            'kubeadm:node-autoapprove-kubelet-serving',
            'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
            nodes,
          ),
        ]
      : []),
  ];
}
