import type { Manifest, PolicyRule } from '../api/meta.ts';
import { projectLabels } from './manifest-labels.ts';

/** Kubernetes' group of users that hold a bootstrap token of kubeadm. */
export const bootstrappersGroup = 'system:bootstrappers:kubeadm:default-node-token';

/** Kubernetes' group of nodes. */
export const nodesGroup = 'system:nodes';

const rbacGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${rbacGroup}/v1`;

/** The subject of a binding. */
export type Subject =
  | { readonly kind: 'Group' | 'User'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

/** A ClusterRole with the project's label. */
export function clusterRole(name: string, rules: readonly PolicyRule[]): Manifest {
  return { apiVersion, kind: 'ClusterRole', metadata: { name, labels: projectLabels }, rules };
}

/** A ClusterRoleBinding to `role` with the project's label. */
export function clusterRoleBinding(name: string, role: string, ...subjects: readonly Subject[]): Manifest {
  return {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: projectLabels },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects,
  };
}

/** Who may read a ConfigMap: the inputs of a Role for it, and of the RoleBinding of the same name. */
export interface ConfigMapReaders {
  readonly name: string;
  readonly namespace: string;
  readonly configMap: string;
  readonly subjects: readonly Subject[];
}

/** A Role and a RoleBinding, both with the project's label. */
export function configMapReaders({ name, namespace, configMap, subjects }: ConfigMapReaders): readonly Manifest[] {
  const metadata = { name, namespace, labels: projectLabels };
  const rules: readonly PolicyRule[] = [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: [configMap], verbs: ['get'] },
  ];
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects,
    },
  ];
}
