import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { clusterNameLabel, clusterSecretType } from '../../../api/cluster-api/names.ts';
import { ownerReferenceOf } from '../../../api/owner-reference.ts';

/** What the Secrets of a Cluster are made from; data is base64 as in the API. */
export interface ClusterSecretsInput {
  readonly scp: StewardControlPlane;
  readonly cluster: string;
  readonly tenant: string;
  /** The kubeconfig that Cluster API and the users of the Cluster get, base64. */
  readonly kubeconfig: string;
  readonly ca: { readonly certificate: string; readonly key: string };
  /** True when the Secret that has the name of the Cluster's CA Secret is that of the TenantControlPlane. */
  readonly caIsTenants: boolean;
}

/** The names at which Cluster API looks for the Secrets of a Cluster. */
export function clusterSecretNames(cluster: string): { readonly kubeconfig: string; readonly ca: string } {
  return { kubeconfig: `${cluster}-kubeconfig`, ca: `${cluster}-ca` };
}

/**
 * True when the Secret was made by the TenantControlPlane `tenant`. By name: it is the only one of that name in its
 * namespace.
 */
export function isTenantsSecret(secret: Secret | undefined, tenant: string): boolean {
  return (
    secret?.metadata.ownerReferences?.some(({ kind, name }) => kind === 'TenantControlPlane' && name === tenant) ??
    false
  );
}

/**
 * Who keeps a Secret from being the Cluster's, in words; undefined when it may be written. Its name is put together of
 * the Cluster's, so that it may be anybody's: only one that we own, or that carries the Cluster's label and is under
 * nobody else's control, is taken.
 */
export function holderOf(secret: Secret | undefined, scp: StewardControlPlane, cluster: string): string | undefined {
  if (secret === undefined) return undefined;
  const { ownerReferences = [], labels: carried } = secret.metadata;
  if (ownerReferences.some(({ uid }) => uid === scp.metadata.uid)) return undefined;
  const other = ownerReferences.find(({ controller }) => controller === true);
  if (other !== undefined) return `it belongs to the ${other.kind} ${other.name}`;
  if (carried?.[clusterNameLabel] === cluster) return undefined;
  return `it does not carry the label ${clusterNameLabel}: ${cluster}`;
}

/**
 * The Secrets `<cluster>-kubeconfig` and `<cluster>-ca` of the contract. When the TenantControlPlane has the Cluster's
 * name its own CA Secret stands where the contract's should: it holds the same keys, so that it only gets the label by
 * which Cluster API finds Secrets.
 */
export function clusterSecrets(input: ClusterSecretsInput): readonly Manifest[] {
  const { cluster, caIsTenants, kubeconfig, ca } = input;
  const names = clusterSecretNames(cluster);
  const caSecret: Manifest = caIsTenants
    ? secret(names.ca, input.scp, { labels: { [clusterNameLabel]: cluster } })
    : contractSecret(input, { name: names.ca, purpose: 'ca', data: { 'tls.crt': ca.certificate, 'tls.key': ca.key } });
  return [
    contractSecret(input, { name: names.kubeconfig, purpose: 'kubeconfig', data: { value: kubeconfig } }),
    caSecret,
  ];
}

interface Purpose {
  readonly name: string;
  readonly purpose: 'kubeconfig' | 'ca';
  readonly data: Readonly<Record<string, string>>;
}

function contractSecret({ scp, cluster, tenant }: ClusterSecretsInput, { name, purpose, data }: Purpose): Manifest {
  return {
    ...secret(name, scp, {
      labels: {
        [clusterNameLabel]: cluster,
        [labels.component]: 'capi',
        [labels.secret]: purpose,
        [labels.cluster]: cluster,
        [labels.tcp]: tenant,
      },
      ownerReferences: [ownerReferenceOf(scp)],
    }),
    type: clusterSecretType,
    data,
  };
}

function secret(name: string, scp: StewardControlPlane, metadata: Partial<Manifest['metadata']>): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: scp.metadata.namespace ?? '', ...metadata },
  };
}
