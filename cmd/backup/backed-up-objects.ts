import type { Secret } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { annotations, labels, stewardGroup, tenantObjects } from '../../api/names.ts';
import { specOwner } from '../../api/steward/v1alpha1/pool/spec-owner.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

/** False for annotations that say how an object came to be, or request something once. */
function isKept(annotation: string): boolean {
  if (annotation === annotations.deletionPolicy) return true;
  const [domain = ''] = annotation.split('/');
  return domain !== stewardGroup && !domain.endsWith(`.${stewardGroup}`) && domain !== 'kubectl.kubernetes.io';
}

/**
 * The Secrets without which workers and users of a control plane would have to join and log in again: its CAs and its service-account
 * key. All others, but for that with the keys of encrypted data, are issued again.
 */
export function backedUpSecrets(name: string): readonly string[] {
  const names = tenantObjects(name);
  return [names.ca, names.frontProxyCa, names.serviceAccount];
}

/** The Secret with the keys of encrypted data, which a control plane without encryption does not have. */
export const encryptionKeys = (name: string): string => tenantObjects(name).encryption;

/**
 * Objects that create a control plane again, without what belongs to the former cluster. A TenantControlPlane about
 * which its controller decides is left out: the controller, such as a StewardControlPlane, creates it.
 */
export function backedUpObjects(tcp: TenantControlPlane, secrets: readonly Secret[]): readonly Manifest[] {
  const own = specOwner(tcp.metadata) === undefined ? [tenantManifest(tcp)] : [];
  return [...secrets.map(secretManifest), ...own];
}

/** What creates a TenantControlPlane again. */
export const tenantManifest = (tcp: TenantControlPlane): Manifest => manifest(tcp, { spec: tcp.spec });

/** What creates a Secret again. */
export const secretManifest = (secret: Secret): Manifest => manifest(secret, { type: secret.type, data: secret.data });

function manifest(
  { apiVersion, kind, metadata }: Pick<TenantControlPlane | Secret, 'apiVersion' | 'kind' | 'metadata'>,
  content: Readonly<Record<string, unknown>>,
): Manifest {
  const { name, namespace } = metadata;
  const kept = Object.entries(metadata.annotations ?? {}).filter(([annotation]) => isKept(annotation));
  // The UIDs of former owners are none in another cluster, and a pool there has not created it.
  const former: readonly string[] = [labels.owner, labels.pool, labels.templateHash, labels.claimedBy];
  const marks = Object.entries(metadata.labels ?? {}).filter(([label]) => !former.includes(label));
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, labels: Object.fromEntries(marks), annotations: Object.fromEntries(kept) },
    ...content,
  };
}
