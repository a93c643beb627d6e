import { isDeepStrictEqual } from 'node:util';
import { asStored } from '../../api/as-stored.ts';
import { topologyDryRunAnnotation } from '../../api/cluster-api/names.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { stewardControlPlaneTemplate } from '../../api/controlplane/steward-control-plane-template.ts';
import type { ObjectOf } from '../../api/schema.ts';
import type { Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { collectErrors } from '../../kubeadm/collect-errors.ts';
import { validateHosting } from './hosting/validate-hosting.ts';
import { isMoved, isForceDeleted } from './tenant/is-force-deleted.ts';
import type { InvalidInput } from '../../kubeadm/invalid-input-error.ts';
import { alternativeNames } from '../../kubeadm/san.ts';
import { refuseVersion } from '../../kubeadm/refuse-version.ts';
import { newestMinor, oldestMinor, readVersion, versionWarnings } from '../../kubeadm/versions.ts';

/**
 * Everything that is wrong with a StewardControlPlane on its own, on creation and on every update. No minor above `newestMinor`
 * is hosted. One that is being deleted is let pass. What only the TenantControlPlane can validate is in the condition
 * TenantControlPlaneCreated.
 */
export function validate(
  scp: StewardControlPlane,
  old: StewardControlPlane | undefined,
  newestMinor?: number,
): readonly InvalidInput[] {
  if (scp.metadata.deletionTimestamp !== undefined) return [];
  return [
    ...validateVersion(scp, old, newestMinor),
    ...validateSans(scp.spec.network.certSANs),
    ...validateHosting(scp, old),
  ];
}

/** What a person should know of an object that is admitted. */
export function warningsAbout(scp: StewardControlPlane): readonly string[] {
  return scp.metadata.deletionTimestamp === undefined ? versionWarnings(scp.spec.version, 'spec.version') : [];
}

/**
 * Why a TenantControlPlane may not be deleted: its StewardControlPlane creates it again with the same data, and until then
 * it serves no one. Even with the confirming annotation it must not be deleted in the foreground, because then its CAs are
 * deleted before it and cannot be retained. `owner` is the object of that kind with the owner's name in the API server.
 * clusterctl deletes what it has moved in any order, and marks it.
 */
export function validateTenantDeletion(
  tenant: Resource,
  owner: StewardControlPlane | undefined,
  { inForeground = false }: { readonly inForeground?: boolean } = {},
): readonly InvalidInput[] {
  if (owner === undefined || owner.metadata.deletionTimestamp !== undefined) return [];
  const isOwned = tenant.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
  if (!isOwned || isMoved(tenant)) return [];
  const name = owner.metadata.name;
  const named = `names the StewardControlPlane ${name}, which would recreate this control plane with the same data`;
  if (!isForceDeleted(tenant)) {
    const reason = `${named}; until then the control plane would be unavailable`;
    const remedy = `delete the Cluster instead, which removes the data; to have the control plane recreated, set the annotation ${annotations.deleteAnyway} to "true" first`;
    return [{ field: 'metadata.ownerReferences', reason, remedy }];
  }
  if (!inForeground) return [];
  const reason = `${named}, but foreground deletion would remove its CAs before they can be retained`;
  return [{ field: 'metadata.ownerReferences', reason, remedy: 'use background deletion, which is the default' }];
}

/**
 * Why a TenantControlPlane of a StewardControlPlane in the management cluster may not be deleted: that one would create it again,
 * but does not exist here, so nothing retains the data. Deletions of the whole namespace, and those that are confirmed by
 * annotation, are admitted.
 */
export function validateExternalDeletion({ metadata }: Resource, username: string): readonly InvalidInput[] {
  const { [annotations.externalClaim]: claim, [annotations.externalHolder]: holder } = metadata.annotations ?? {};
  if (claim === undefined || holder === undefined || namespaceControllers.includes(username)) return [];
  if (isForceDeleted({ metadata })) return [];
  const reason = `names the StewardControlPlane with UID ${holder} of the management cluster, which would recreate this control plane without its data, and workers that have joined could not use it`;
  const remedy = `delete the Cluster there instead; to delete this control plane anyway, set the annotation ${annotations.deleteAnyway} to "true" first`;
  return [{ field: `metadata.annotations[${annotations.externalHolder}]`, reason, remedy }];
}

/** Who empties a namespace that is deleted (https://kubernetes.io/docs/reference/access-authn-authz/rbac/#controller-roles). */
const namespaceControllers: readonly string[] = [
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
];

type Template = ObjectOf<typeof stewardControlPlaneTemplate>;

/** The control plane of a template, as far as the template determines it. Every supported version is possible. */
export function controlPlaneFrom({ metadata, spec }: Template): StewardControlPlane {
  const { apiVersion, kind } = { apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2', kind: 'StewardControlPlane' };
  const named = { namespace: metadata.namespace, name: 'template' };
  const given = { ...spec.template.spec, version: `v1.${oldestMinor}.0`, replicas: 1 };
  return asStored({ apiVersion, kind, metadata: { ...spec.template.metadata, ...named }, spec: given });
}

/** A request to admission about a template. */
export interface TemplateRequest {
  readonly template: Template;
  /** Absent on creation. */
  readonly old?: Template | undefined;
  /** Nothing is to be stored. */
  readonly dryRun: boolean;
}

/**
 * Why a template may not take the place of another: Clusters are made of it. Cluster API compares what it would write with what
 * there is by dry runs, which it marks, and which must be let pass
 * (https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane).
 */
export function validateTemplateChange({ template, old, dryRun }: TemplateRequest): readonly InvalidInput[] {
  if (old === undefined || template.metadata.deletionTimestamp !== undefined) return [];
  if (dryRun && template.metadata.annotations?.[topologyDryRunAnnotation] !== undefined) return [];
  if (isDeepStrictEqual(template.spec.template.spec, old.spec.template.spec)) return [];
  const reason = 'cannot be changed: Clusters were created from it';
  const remedy = 'create a template with another name and use it in the ClusterClass, which rolls out its Clusters';
  return [{ field: 'spec.template.spec', reason, remedy }];
}

/**
 * A version that does not change is not validated again: an unsupported one must not prevent writes of finalizers and
 * endpoints.
 */
function validateVersion(
  scp: StewardControlPlane,
  old: StewardControlPlane | undefined,
  newest = newestMinor,
): readonly InvalidInput[] {
  if (old?.spec.version === scp.spec.version) return [];
  const step = { field: 'spec.version', newest } as const;
  // Cluster API reads both fields; the lowest running version is what an upgrade starts from.
  const running = readVersion(old?.status?.version ?? '');
  const from = running === undefined ? [] : [running];
  const isRefused = old === undefined || refuseVersion(old.spec.version, { ...step, from }) !== undefined;
  const requested = isRefused || isUntouched(old) ? undefined : readVersion(old.spec.version);
  const refusal = refuseVersion(scp.spec.version, {
    ...step,
    from: requested === undefined ? from : [...from, requested],
  });
  return refusal === undefined ? [] : [refusal];
}

/** True if no pod has the wanted version, for example because it is held: then it can be reverted. */
function isUntouched({ spec, status }: StewardControlPlane): boolean {
  const running = status?.versions ?? [];
  return running.length > 0 && !running.some(({ version }) => isSame(version, spec.version));
}

/** With and without the leading v. */
const isSame = (a: string, b: string): boolean => a.replace(/^v/, '') === b.replace(/^v/, '');

function validateSans(sans: readonly string[] | undefined): readonly InvalidInput[] {
  return collectErrors(() => {
    alternativeNames(sans ?? [], 'spec.network.certSANs');
  });
}
