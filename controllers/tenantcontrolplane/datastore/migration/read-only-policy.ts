import type { Manifest } from '../../../../api/meta.ts';
import { freezePolicy, stewardGroup } from '../../../../api/names.ts';
import { versionText } from '../../../../kubeadm/versions.ts';
import { admissionVersion, denyWritesManifests } from '../../shared/deny-writes-policy.ts';
import type { VersionFacts } from '../../upgrade/version-facts.ts';

/** The first minor of Kubernetes 1 that serves ValidatingAdmissionPolicy by default. */
export const firstMinorWithPolicies = 30;

/**
 * The version of the tenant's API servers when it cannot deny writes; undefined when all of them can. A later version in the spec does
 * not help those that run: it counts only before the first one is installed.
 */
export function versionWithoutPolicies({ installed, wanted }: VersionFacts): string | undefined {
  const serving = installed ?? wanted;
  return serving === undefined || serving.minor >= firstMinorWithPolicies ? undefined : versionText(serving);
}

/** The message that clients get whose write is denied. */
export const freezeMessage =
  'the data of this control plane is being migrated to another datastore: writes are denied for a few seconds, please try again';

const isOthers = "request.userInfo.username != 'system:apiserver'";
/** The API server's lease in kube-system and its address in the Service `kubernetes`. */
const isOfServers = "request.resource.resource in ['leases', 'endpoints', 'endpointslices']";

/** The leases of the leaders, renewed by themselves. */
const isOfLeaders =
  "request.resource.resource == 'leases' && request.namespace == 'kube-system' && " +
  "request.name in ['kube-controller-manager', 'kube-scheduler'] && " +
  "request.userInfo.username in ['system:kube-controller-manager', 'system:kube-scheduler']";

/**
 * The policy that denies all writes except those of the API server itself, and its binding. The API server needs its own writes to
 * start: without them the pods on the other datastore would not become ready. Its lease and its address can wait and are denied:
 * behind the fence of a datastore, these writes would be retried endlessly. Controller manager and scheduler exit when they cannot
 * renew their leases for ten seconds, so that their pod is not ready: their leases are allowed here where the datastore accepts
 * them.
 */
export function freezeManifests({ leadersRenew }: { readonly leadersRenew: boolean }): readonly [Manifest, Manifest] {
  const leaders = { name: 'not-a-lease-of-leaders', expression: `!(${isOfLeaders})` };
  return denyWritesManifests({
    name: freezePolicy,
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    matchConditions: [
      { name: 'not-the-api-server', expression: `${isOthers} || ${isOfServers}` },
      ...(leadersRenew ? [leaders] : []),
    ],
    message: freezeMessage,
  });
}

/** A write for a dry run, which stores nothing. */
export type FreezeProbe =
  | { readonly verb: 'create'; readonly manifest: Manifest }
  | { readonly verb: 'patch'; readonly kind: 'Namespace'; readonly name: string; readonly body: object };

const probeName = 'steward-freeze-probe';

/**
 * Writes that an API server denies while it is read-only. The first is of a kind that webhooks never see; the others are for
 * tenants whose own policies deny that one first, since an API server names only one of the policies that deny a request.
 */
export const freezeProbes: readonly [FreezeProbe, ...FreezeProbe[]] = [
  {
    verb: 'create',
    manifest: {
      apiVersion: admissionVersion,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: probeName },
      webhooks: [],
    },
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

/** True when the read-only policy denied the write, which the message names; other policies and quotas deny writes, too. */
export function isFreezeRefusal(refusal: { readonly code: number; readonly message: string }): boolean {
  return refusal.code === 403 && refusal.message.includes(`ValidatingAdmissionPolicy '${freezePolicy}'`);
}
