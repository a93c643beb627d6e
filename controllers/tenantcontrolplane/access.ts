import { gatewayGroup } from '../../api/gateway-api/kinds.ts';
import type { PolicyRule } from '../../api/meta.ts';
import { stewardGroup } from '../../api/names.ts';
import { podMonitor } from '../../api/prometheus-operator/kinds.ts';
import { ingressRouteTcp } from '../../api/traefik/kinds.ts';

/** All that this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes/status'], verbs: ['patch'] },
  // Owner references with blockOwnerDeletion require this.
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes/finalizers'], verbs: ['update'] },
  // What is retained of a deleted one, for the next one of its name.
  {
    apiGroups: [stewardGroup],
    resources: ['retainedcontrolplanes'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // A process of one delays sleep.
  { apiGroups: [stewardGroup], resources: ['tenantbackups', 'tenantrestores'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [stewardGroup], resources: ['datastores'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [''],
    resources: ['secrets', 'configmaps', 'services'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  // The Secret for the overrides' datastores is deleted with the last override; so are the objects of the tunnel.
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['delete'] },
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['ingresses'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: [gatewayGroup],
    resources: ['tlsroutes'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // Only the status of the Gateway says whether it listens.
  { apiGroups: [gatewayGroup], resources: ['gateways'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [ingressRouteTcp.group],
    resources: ['ingressroutetcps'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // Created only if a flag of the manager lets Prometheus scrape control planes, and deleted afterwards.
  {
    apiGroups: [podMonitor.group],
    resources: ['podmonitors'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // Budget and policy of the pods are deleted when they are no longer wanted; budgets of others are listed.
  {
    apiGroups: ['policy'],
    resources: ['poddisruptionbudgets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // The autoscaler of the pods is deleted when it is no longer wanted; those of others are listed.
  {
    apiGroups: ['autoscaling'],
    resources: ['horizontalpodautoscalers'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['networkpolicies'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // A rollout leads from the pods of one template to those of the next. The slice `kubernetes` has the addresses of this cluster's
  // own API server, which the pods of tenants must not reach.
  { apiGroups: ['apps'], resources: ['replicasets'], verbs: ['list'] },
  // Its slice lets clients of add-ons reach new pods early.
  {
    apiGroups: ['discovery.k8s.io'],
    resources: ['endpointslices'],
    verbs: ['get', 'list', 'create', 'patch', 'delete'],
  },
  // Stopping pods are deleted quickly when their tenant is deleted; those that do not start are inspected for the reason.
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'delete'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
  // Their labels say what pods may do there, and which DataStores accept their tenants.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
];

/** What it may do in the manager's own namespace, where the Jobs of migrations and restores run. */
export const operatorNamespaceAccess: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  // The manager's own pod provides the image of the Jobs, whose pods have to end before data is removed.
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  // The pods of the activator that are ready.
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];
