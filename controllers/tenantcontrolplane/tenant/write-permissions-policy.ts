import type { Manifest } from '../../../api/meta.ts';
import { writePermissionsPolicy } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { deniedOperations } from '../shared/denied-operations.ts';
import { denyWritesManifests } from '../shared/deny-writes-policy.ts';

/**
 * The writes that a cluster needs to keep running: without leases the controllers lose leadership and restart endlessly, without
 * heartbeats every node counts as lost, and without its endpoints the Service `kubernetes`, which Steward maintains, leads
 * nowhere. The policy applies to a request only if all of these conditions hold.
 */
const matchConditions = [
  { name: 'not-the-api-server', expression: "request.userInfo.username != 'system:apiserver'" },
  {
    name: 'not-where-the-api-server-is',
    expression:
      "!(request.resource.group in ['', 'discovery.k8s.io'] && request.resource.resource in ['endpoints', 'endpointslices'] && " +
      "has(request.namespace) && request.namespace == 'default' && has(request.name) && request.name == 'kubernetes')",
  },
  {
    name: 'not-a-lease-of-the-system',
    expression:
      "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases' && " +
      "has(request.namespace) && request.namespace in ['kube-system', 'kube-node-lease'] && " +
      "(request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler'] || " +
      "'system:nodes' in request.userInfo.groups))",
  },
  {
    name: 'not-the-heartbeat-of-a-node',
    expression:
      "!('system:nodes' in request.userInfo.groups && has(request.subResource) && request.subResource == 'status' && " +
      "request.resource.group == '' && request.resource.resource in ['nodes', 'pods'])",
  },
];

/**
 * The policy that denies writes inside the tenant according to `spec.writePermissions`, to all users and in every
 * namespace, including subresources such as scale, binding and eviction; and its binding. None when nothing is limited.
 * Requests that store nothing are allowed: reviews of tokens and of access, and issuing service-account tokens.
 */
export function writePermissionsManifests(tcp: TenantControlPlane): readonly Manifest[] {
  const operations = deniedOperations(tcp);
  if (operations.length === 0) return [];
  const message = `the operator of this control plane currently denies ${operations.join(', ')} (spec.writePermissions): contact the operator`;
  return denyWritesManifests({ name: writePermissionsPolicy, operations, matchConditions, message });
}
