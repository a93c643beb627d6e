import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { clusterNameLabel, clusterSecretType } from '../../../api/cluster-api/names.ts';
import { suppliedKeys, suppliedSecretTypes } from '../../../api/cluster-api/supplied-secrets.ts';
import { clusterKubeconfig } from './cluster-kubeconfig.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';

/** What the Secrets of a Cluster are made from; data is base64 as in the API. */
export interface ClusterSecretsInput {
  readonly scp: StewardControlPlane;
  readonly cluster: string;
  readonly tenant: string;
  /** The kubeconfig that Cluster API and the users of the Cluster get, base64. */
  readonly kubeconfig: string;
  readonly ca: { readonly certificate: string; readonly key: string };
  /** Names of user-supplied Secrets: they are not written. */
  readonly supplied: readonly string[];
  /** True when the Secret that has the name of the Cluster's CA Secret is that of the TenantControlPlane. */
  readonly caIsTenants: boolean;
}

/** Value of the component label on what is made for Cluster API. */
const capiComponent = 'capi';

/** The names under which Cluster API reads the Secrets of a Cluster. */
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

/** What to do about an existing Secret with the name of one of the Cluster's. */
export type Standing =
  | { readonly is: 'ours' }
  /** It is user-supplied, as Cluster API allows: it is used as it is. */
  | { readonly is: 'supplied' }
  /** Why it cannot be the Cluster's, and how to fix it, as text. */
  | { readonly is: 'taken'; readonly why: string; readonly remedy: string };

/** For whom a Secret would be, and what it must hold. */
export interface SecretPlace {
  readonly scp: StewardControlPlane;
  readonly cluster: string;
  /** Keys that Cluster API reads from it. */
  readonly keys: readonly string[];
  /** Types that a user-supplied Secret may have. */
  readonly types: readonly string[];
}

/** What a Secret must be to stand at one of the names of `clusterSecretNames`. */
export const placeOf = {
  kubeconfig: { keys: ['value'], types: [clusterSecretType] },
  ca: { keys: [suppliedKeys.certificate, suppliedKeys.key], types: suppliedSecretTypes },
} as const;

/**
 * The owner of a Secret. Its name is derived from the Cluster's, so it may belong to anyone: Steward writes it only if it
 * owns it, or if it has our labels and no other controller. A Secret of the Cluster's author, with a type and the label of
 * the contract, is not changed.
 */
export function standingOf(secret: Secret | undefined, { scp, cluster, keys, types }: SecretPlace): Standing {
  if (secret === undefined) return { is: 'ours' };
  const { ownerReferences = [], labels: carried = {} } = secret.metadata;
  const remedy = 'delete it, or give the Cluster another name';
  const other = ownerReferences.find(({ controller, uid }) => controller === true && uid !== scp.metadata.uid);
  if (other !== undefined) return { is: 'taken', why: `it belongs to the ${other.kind} ${other.name}`, remedy };
  const isOwned = ownerReferences.some(({ uid }) => uid === scp.metadata.uid);
  if (!isOwned && carried[clusterNameLabel] !== cluster) {
    return { is: 'taken', why: `it does not have the label ${clusterNameLabel}: ${cluster}`, remedy };
  }
  const { type = 'Opaque' } = secret;
  if (isOwned || carried[labels.component] === capiComponent) {
    // The API server does not allow the type of a Secret to change.
    if (type === clusterSecretType) return { is: 'ours' };
    const why = `its type is ${type}, not ${clusterSecretType}`;
    return { is: 'taken', why, remedy: 'delete it to have it recreated' };
  }
  if (!types.includes(type)) return { is: 'taken', why: `its type is ${type}, not ${types.join(' or ')}`, remedy };
  const missing = keys.find((key) => (secret.data?.[key] ?? '') === '');
  if (missing === undefined) return { is: 'supplied' };
  return { is: 'taken', why: `its key ${missing} is empty`, remedy: `set it, or ${remedy}` };
}

/**
 * The Secrets `<cluster>-kubeconfig` and `<cluster>-ca` of the contract. If the TenantControlPlane has the Cluster's name,
 * its own CA Secret has the name of the contract's: it contains the same keys, and has the same type unless it is older
 * than this rule, so that it only gets the label by which Cluster API finds Secrets.
 */
export function clusterSecrets(input: ClusterSecretsInput): readonly Manifest[] {
  const { cluster, caIsTenants, kubeconfig, ca, supplied } = input;
  const names = clusterSecretNames(cluster);
  const caSecret: Manifest = caIsTenants
    ? secret(names.ca, input.scp, { labels: { [clusterNameLabel]: cluster } })
    : contractSecret(input, { name: names.ca, purpose: 'ca', data: { 'tls.crt': ca.certificate, 'tls.key': ca.key } });
  const value = clusterKubeconfig(kubeconfig, cluster);
  const both = [contractSecret(input, { name: names.kubeconfig, purpose: 'kubeconfig', data: { value } }), caSecret];
  return both.filter(({ metadata }) => !supplied.includes(metadata.name));
}

/** True if machines with this CA trust the control plane: each of its CAs is among the certificates. */
export function isTrustedBy(ca: string, authorities: string): boolean {
  const known = certificatesIn(ca);
  return certificatesIn(authorities).every((certificate) => known.includes(certificate));
}

function certificatesIn(encoded: string): readonly string[] {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.split('-----END CERTIFICATE-----').flatMap((block) => {
    const body = block.split('-----BEGIN CERTIFICATE-----').at(-1) ?? '';
    return body.trim() === '' ? [] : [body.replaceAll(/\s/g, '')];
  });
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
        [labels.component]: capiComponent,
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
    metadata: { name, namespace: scp.metadata.namespace, ...metadata },
  };
}
