import type { Manifest } from '../api/meta.ts';
import { bootstrappersGroup, clusterRole, clusterRoleBinding, configMapReaders, nodesGroup } from './rbac.ts';

const bootstrappers = { kind: 'Group', name: bootstrappersGroup } as const;
const nodes = { kind: 'Group', name: nodesGroup } as const;
const approver = 'system:certificates.k8s.io:certificatesigningrequests';

/**
 * The RBAC objects with which nodes join by a bootstrap token and renew their certificates, administrators administer, and the
 * API server reaches kubelets. The same for every supported version and every tenant.
 */
export function bootstrapRbac(): readonly Manifest[] {
  return [
    clusterRole('kubeadm:get-nodes', [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]),
    clusterRoleBinding('kubeadm:get-nodes', 'kubeadm:get-nodes', bootstrappers),
    clusterRoleBinding('kubeadm:kubelet-bootstrap', 'system:node-bootstrapper', bootstrappers),
    clusterRoleBinding('kubeadm:node-autoapprove-bootstrap', `${approver}:nodeclient`, bootstrappers),
    clusterRoleBinding('kubeadm:node-autoapprove-certificate-rotation', `${approver}:selfnodeclient`, nodes),
    clusterRoleBinding('kubeadm:cluster-admins', 'cluster-admin', { kind: 'Group', name: 'kubeadm:cluster-admins' }),
    clusterRoleBinding('kubeadm:apiserver-kubelet-client', 'system:kubelet-api-admin', {
      kind: 'User',
      name: 'kube-apiserver-kubelet-client',
    }),
    ...configMapReaders({
      name: 'kubeadm:nodes-kubeadm-config',
      namespace: 'kube-system',
      configMap: 'kubeadm-config',
      subjects: [bootstrappers, nodes],
    }),
    ...configMapReaders({
      name: 'kubeadm:kubelet-config',
      namespace: 'kube-system',
      configMap: 'kubelet-config',
      subjects: [nodes, bootstrappers],
    }),
    ...configMapReaders({
      name: 'kubeadm:bootstrap-signer-clusterinfo',
      namespace: 'kube-public',
      configMap: 'cluster-info',
      subjects: [{ kind: 'User', name: 'system:anonymous' }],
    }),
  ];
}
