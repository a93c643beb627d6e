import type { Manifest } from '../../../api/meta.ts';
import { freezePolicy, labels, project, stewardGroup } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { installedVersion } from './upgrade/held-version.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';

/** The first minor of Kubernetes 1 that serves ValidatingAdmissionPolicy without being asked to. */
export const firstMinorWithPolicies = 30;

/** The version that API servers of the tenant run or are about to: the one that is installed, else the one that is wanted. */
export function servingVersion(tcp: TenantControlPlane): string {
  const installed = installedVersion(tcp);
  return installed === '' ? tcp.spec.kubernetes.version : installed;
}

/**
 * True when the API servers of the tenant can be told to deny writes, all of them: that the spec wants a later version does not
 * help those that run. Throws `InvalidInputError` for what is no version.
 */
export function canFreeze(tcp: TenantControlPlane): boolean {
  return parseVersion(servingVersion(tcp), 'spec.kubernetes.version').minor >= firstMinorWithPolicies;
}

/** What people and programs read whose write is denied. */
export const freezeMessage =
  'the data of this control plane is moving to another store: nothing can be changed for a few seconds, please try again';

const isOthers = "request.userInfo.username != 'system:apiserver'";
/** Its lease in kube-system and its address in the Service `kubernetes`. */
const isOfServers = "request.resource.resource in ['leases', 'endpoints', 'endpointslices']";

/** The leases of those that lead, renewed by themselves. */
const isOfLeaders =
  "request.resource.resource == 'leases' && request.namespace == 'kube-system' && " +
  "request.name in ['kube-controller-manager', 'kube-scheduler'] && " +
  "request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler']";

const apiVersion = 'admissionregistration.k8s.io/v1';
const metadata = { name: freezePolicy, labels: { [labels.project]: project } };

/**
 * The policy that denies every write, of everybody but the API server itself, and its binding. Let pass is what stores nothing:
 * reviews of tokens and of access, and the issue of service-account tokens. The API server's own writes are those with which it
 * starts: without them the pods on the other store would not become ready. What it says of itself again and again can wait, and
 * is denied: behind a store's fence it would be tried without end. Controller manager and scheduler end when they could not renew
 * their leases for ten seconds, which makes their pod one that is not ready: where the store lets these through they are let through
 * here. Kubernetes exempts policies themselves, so the freeze can always be lifted.
 */
export function freezeManifests({ leadersRenew }: { readonly leadersRenew: boolean }): readonly [Manifest, Manifest] {
  const leaders = { name: 'not-a-lease-of-leaders', expression: `!(${isOfLeaders})` };
  const everything = { apiGroups: ['*'], apiVersions: ['*'], scope: '*' };
  const reviews = ['authentication.k8s.io', 'authorization.k8s.io'];
  const policy: Manifest = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        matchPolicy: 'Equivalent',
        resourceRules: [{ ...everything, operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['*/*'] }],
        excludeResourceRules: [
          { ...everything, apiGroups: reviews, operations: ['CREATE'], resources: ['*'] },
          { ...everything, apiGroups: [''], operations: ['CREATE'], resources: ['serviceaccounts/token'] },
        ],
      },
      matchConditions: [
        { name: 'not-the-api-server', expression: `${isOthers} || ${isOfServers}` },
        ...(leadersRenew ? [leaders] : []),
      ],
      validations: [{ expression: 'false', message: freezeMessage, reason: 'Forbidden' }],
    },
  };
  const binding: Manifest = {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: freezePolicy, validationActions: ['Deny'] },
  };
  return [policy, binding];
}

/** A write to be sent as a dry run, which stores nothing. */
export type FreezeProbe =
  | { readonly verb: 'create'; readonly manifest: Manifest }
  | { readonly verb: 'patch'; readonly kind: 'Namespace'; readonly name: string; readonly body: object };

const probeName = 'steward-freeze-probe';

/**
 * Writes that an API server denies while it enforces the freeze. The first is of a kind that webhooks never see; the others are
 * for tenants whose own policies deny that one first: an API server names only one of those that do.
 */
export const freezeProbes: readonly [FreezeProbe, ...FreezeProbe[]] = [
  {
    verb: 'create',
    manifest: { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name: probeName }, webhooks: [] },
  },
  {
    verb: 'patch',
    kind: 'Namespace',
    name: 'default',
    body: { metadata: { annotations: { [`${stewardGroup}/${probeName}`]: '' } } },
  },
  {
    verb: 'create',
    manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: probeName, namespace: 'default' } },
  },
];

/** True for the refusal of a write by the freeze, which names the policy; other policies and quotas refuse, too. */
export function isFreezeRefusal(refusal: { readonly code: number; readonly message: string }): boolean {
  return refusal.code === 403 && refusal.message.includes(`ValidatingAdmissionPolicy '${freezePolicy}'`);
}
