import { gatewayGroup } from '../../api/gateway-api/kinds.ts';
import type { PolicyRule } from '../../api/meta.ts';
import { controlPlaneGroup, stewardGroup } from '../../api/names.ts';
import { ingressRouteTcp } from '../../api/traefik/kinds.ts';

/** All that this controller may do in the management cluster. */
export const access: readonly PolicyRule[] = [
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes/status'], verbs: ['patch'] },
  // Owner references with blockOwnerDeletion ask for this.
  { apiGroups: [stewardGroup], resources: ['tenantcontrolplanes/finalizers'], verbs: ['update'] },
  // Whether it stays, and what it keeps for whom, is asked of the StewardControlPlane itself.
  { apiGroups: [controlPlaneGroup], resources: ['stewardcontrolplanes'], verbs: ['get'] },
  { apiGroups: [stewardGroup], resources: ['datastores'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [''],
    resources: ['secrets', 'configmaps', 'services'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  // The Secret that opens the stores of single resources goes when there are none any more, and what the tunnel needed with it.
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
  // Whether a Gateway listens is told by the Gateway alone.
  { apiGroups: [gatewayGroup], resources: ['gateways'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: [ingressRouteTcp.group],
    resources: ['ingressroutetcps'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // Budget and policy of the pods go when they are not wanted any more; budgets of others are asked for.
  {
    apiGroups: ['policy'],
    resources: ['poddisruptionbudgets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  {
    apiGroups: ['networking.k8s.io'],
    resources: ['networkpolicies'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  // Where this cluster's own API server is, which pods of tenants are kept from.
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], resourceNames: ['kubernetes'], verbs: ['get'] },
  // Stopping pods are hurried when their tenant goes; those that do not start are asked why.
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'delete'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
  // Their labels say what pods may do there, and which DataStores take their tenants.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
];

/** What it may do in the operator's own namespace, where the Jobs of migrations are. */
export const operatorNamespaceAccess: readonly PolicyRule[] = [
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  // The manager's own pod tells the image of the Jobs.
  { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
];
