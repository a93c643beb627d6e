import type {
  V1APIService,
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1ReplicaSet,
  V1Ingress,
  V1Endpoints,
  V1EndpointSlice,
  V1FlowSchema,
  V1Job,
  V1Lease,
  V1MutatingWebhookConfiguration,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1Pod,
  V1PodDisruptionBudget,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
  V1ValidatingWebhookConfiguration,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import type { KindRef, NamespacedResource, Resource } from '../meta.ts';

/** A built-in type as plain JSON: the type of the client library with our metadata, in which times are strings. */
export type Core<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & NamespacedResource;

/** As `Core`, of a kind whose objects are not in namespaces. */
export type ClusterScoped<T> = Omit<T, 'apiVersion' | 'kind' | 'metadata'> & Resource;

const core = <T>(group: string, version: string, kind: string, plural: string): KindRef<Core<T>> => ({
  group,
  version,
  kind,
  plural,
  namespaced: true,
});

const clusterScoped = <T>(group: string, version: string, kind: string, plural: string): KindRef<ClusterScoped<T>> => ({
  group,
  version,
  kind,
  plural,
  namespaced: false,
});

export type Secret = Core<V1Secret>;
export type ConfigMap = Core<V1ConfigMap>;
export type Service = Core<V1Service>;
export type Deployment = Core<V1Deployment>;
export type Ingress = Core<V1Ingress>;
export type StatefulSet = Core<V1StatefulSet>;
export type Pod = Core<V1Pod>;
export type Node = ClusterScoped<V1Node>;
export type Lease = Core<V1Lease>;
export type PodDisruptionBudget = Core<V1PodDisruptionBudget>;
export type EndpointSlice = Core<V1EndpointSlice>;
export type ReplicaSet = Core<V1ReplicaSet>;
export type HorizontalPodAutoscaler = Core<V2HorizontalPodAutoscaler>;
export type NetworkPolicy = Core<V1NetworkPolicy>;
export type Job = Core<V1Job>;
export type CertificateSigningRequest = ClusterScoped<V1CertificateSigningRequest>;

/** The built-in kinds this project reads or writes. */
export const kinds = {
  Secret: core<V1Secret>('', 'v1', 'Secret', 'secrets'),
  ConfigMap: core<V1ConfigMap>('', 'v1', 'ConfigMap', 'configmaps'),
  Service: core<V1Service>('', 'v1', 'Service', 'services'),
  ServiceAccount: core<V1ServiceAccount>('', 'v1', 'ServiceAccount', 'serviceaccounts'),
  Pod: core<V1Pod>('', 'v1', 'Pod', 'pods'),
  Node: clusterScoped<V1Node>('', 'v1', 'Node', 'nodes'),
  Namespace: clusterScoped<V1Namespace>('', 'v1', 'Namespace', 'namespaces'),
  Deployment: core<V1Deployment>('apps', 'v1', 'Deployment', 'deployments'),
  ReplicaSet: core<V1ReplicaSet>('apps', 'v1', 'ReplicaSet', 'replicasets'),
  DaemonSet: core<V1DaemonSet>('apps', 'v1', 'DaemonSet', 'daemonsets'),
  StatefulSet: core<V1StatefulSet>('apps', 'v1', 'StatefulSet', 'statefulsets'),
  Job: core<V1Job>('batch', 'v1', 'Job', 'jobs'),
  Ingress: core<V1Ingress>('networking.k8s.io', 'v1', 'Ingress', 'ingresses'),
  PodDisruptionBudget: core<V1PodDisruptionBudget>('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  HorizontalPodAutoscaler: core<V2HorizontalPodAutoscaler>(
    'autoscaling',
    'v2',
    'HorizontalPodAutoscaler',
    'horizontalpodautoscalers',
  ),
  NetworkPolicy: core<V1NetworkPolicy>('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies'),
  Endpoints: core<V1Endpoints>('', 'v1', 'Endpoints', 'endpoints'),
  EndpointSlice: core<V1EndpointSlice>('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices'),
  Role: core<V1Role>('rbac.authorization.k8s.io', 'v1', 'Role', 'roles'),
  RoleBinding: core<V1RoleBinding>('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings'),
  ClusterRole: clusterScoped<V1ClusterRole>('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles'),
  ClusterRoleBinding: clusterScoped<V1ClusterRoleBinding>(
    'rbac.authorization.k8s.io',
    'v1',
    'ClusterRoleBinding',
    'clusterrolebindings',
  ),
  CertificateSigningRequest: clusterScoped<V1CertificateSigningRequest>(
    'certificates.k8s.io',
    'v1',
    'CertificateSigningRequest',
    'certificatesigningrequests',
  ),
  Lease: core<V1Lease>('coordination.k8s.io', 'v1', 'Lease', 'leases'),
  CustomResourceDefinition: clusterScoped<V1CustomResourceDefinition>(
    'apiextensions.k8s.io',
    'v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
  ),
  APIService: clusterScoped<V1APIService>('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices'),
  MutatingWebhookConfiguration: clusterScoped<V1MutatingWebhookConfiguration>(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
  ),
  ValidatingAdmissionPolicy: clusterScoped<V1ValidatingAdmissionPolicy>(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicy',
    'validatingadmissionpolicies',
  ),
  ValidatingAdmissionPolicyBinding: clusterScoped<V1ValidatingAdmissionPolicyBinding>(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
  ),
  FlowSchema: clusterScoped<V1FlowSchema>('flowcontrol.apiserver.k8s.io', 'v1', 'FlowSchema', 'flowschemas'),
  ValidatingWebhookConfiguration: clusterScoped<V1ValidatingWebhookConfiguration>(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
  ),
} as const;
