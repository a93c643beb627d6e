import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import { suppliedKeys, suppliedSecretTypes } from '../../api/cluster-api/supplied-secrets.ts';
import type { Secret } from '../../api/core/kinds.ts';
import { dataKeys } from '../../api/names.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

type Data = Readonly<Record<string, string>>;

/** Prefix of the annotations by which cert-manager knows the Secrets that it renews. */
const renewerPrefix = 'cert-manager.io/';

/**
 * Why a Secret that somebody else has created cannot become the control plane's own, as a phrase; undefined if it can: it has the same CA
 * or keys as the one of the backup, byte by byte, as one that a user supplies for a Cluster again.
 */
export function whyNotTaken(
  { metadata: { labels } }: Pick<TenantControlPlane, 'metadata'>,
  { metadata, type = 'Opaque', data = {}, immutable }: Secret,
  { data: saved }: { readonly data: Data },
): string | undefined {
  const [owner] = metadata.ownerReferences ?? [];
  if (owner !== undefined) return `it belongs to ${owner.kind} ${owner.name}`;
  const cluster = metadata.labels?.[clusterNameLabel];
  if (cluster !== undefined && cluster !== labels?.[clusterNameLabel]) return `it is labeled for Cluster ${cluster}`;
  if (type !== 'Opaque' && !suppliedSecretTypes.includes(type)) return `its type is ${type}`;
  const renewer = Object.keys(metadata.annotations ?? {}).find((name) => name.startsWith(renewerPrefix));
  if (renewer !== undefined) return `its annotation ${renewer} shows that cert-manager renews it`;
  if (immutable === true) return 'it is immutable';
  return isSame(data, saved) ? undefined : 'its content is not that of the backup';
}

/** Whoever supplies a CA gives only the pair, under the keys of Cluster API. */
function isSame(data: Data, saved: Data): boolean {
  const { certificate, key } = dataKeys.ca;
  const { certificate: suppliedCertificate, key: suppliedKey } = suppliedKeys;
  const allowed = (name: string): readonly (string | undefined)[] => {
    if (name === suppliedCertificate) return [saved[name], saved[certificate]];
    return name === suppliedKey ? [saved[name], saved[key]] : [saved[name]];
  };
  const hasKey = privateKeys.some((name) => data[name] !== undefined);
  return hasKey && Object.entries(data).every(([name, value]) => allowed(name).includes(value));
}

const privateKeys: readonly string[] = [
  ...[dataKeys.ca.key, dataKeys.frontProxyCa.key, dataKeys.serviceAccount.key],
  suppliedKeys.key,
];
