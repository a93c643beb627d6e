import { isDeepStrictEqual } from 'node:util';
import { clusterNameLabel, clusterSecretType } from '../../api/cluster-api/names.ts';
import { suppliedSecretName } from '../../api/cluster-api/supplied-secrets.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { dataKeys, labels, project, tenantObjects } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { backedUpSecrets, encryptionKeys } from './backed-up-objects.ts';
import type { BackupParts } from './backup-parts.ts';
import { BackupRefusal } from './backup-refusal.ts';
import { whyNotTaken } from './supplied-identity.ts';

const fieldManager = 'steward-restore';

/** The private keys that make a control plane what it is for workers and users. */
const identities: readonly string[] = [dataKeys.ca.key, dataKeys.frontProxyCa.key, dataKeys.serviceAccount.key];

/** What a control plane gets of another one that was backed up: the Secrets of that, whose names begin with `original`. */
export interface Identity {
  readonly original: string;
  readonly secrets: readonly Manifest[];
}

type Parts = Pick<BackupParts, 'cluster' | 'log' | 'signal'>;

/**
 * Gives a new control plane the CAs and keys of the one that was backed up, under its own names. It owns them, so that they go with it.
 * Throws `BackupRefusal` for a Secret of such a name that is not from a restore and has other content: nothing is replaced that others may use.
 */
export async function restoreIdentity(tcp: TenantControlPlane, identity: Identity, parts: Parts): Promise<void> {
  const wanted = identitySecrets(tcp, identity);
  const lacking = backedUpSecrets(identity.original).find(
    (name) => !identity.secrets.some(({ metadata }) => metadata.name === name),
  );
  // Without it, another one would be generated later.
  if (lacking !== undefined) throw new BackupRefusal(`the backup has no Secret ${lacking}: restore another one`);
  await refuseTwins(tcp, wanted, parts);
  const { encryption } = tenantObjects(tcp.metadata.name);
  if (!wanted.some(({ metadata }) => metadata.name === encryption)) await absent(tcp, encryption, parts);
  for (const secret of wanted) {
    await stored(tcp, secret, parts);
    parts.log.info('a Secret was restored', { name: secret.metadata.name });
  }
}

/** Throws `BackupRefusal` unless its private keys are still those of the backup. */
export async function verifyIdentity(
  tcp: TenantControlPlane,
  identity: Identity,
  { cluster, signal }: Parts,
): Promise<void> {
  const { namespace } = tcp.metadata;
  const wanted = identitySecrets(tcp, identity);
  await refuseTwins(tcp, wanted, { cluster, signal });
  for (const { metadata, data } of wanted) {
    const found = await cluster.get(kinds.Secret, { namespace, name: metadata.name }, { signal });
    if (identities.some((key) => data[key] !== undefined && data[key] !== found?.data?.[key])) {
      throw new BackupRefusal(`Secret ${metadata.name} was changed while the data was restored`);
    }
  }
}

/**
 * Throws `BackupRefusal` while another control plane of the namespace is in use with the same CA, such as one that was restored from the
 * same backup: each would accept the tokens and certificates of the other.
 */
async function refuseTwins(
  tcp: TenantControlPlane,
  wanted: readonly IdentitySecret[],
  { cluster, signal }: Pick<Parts, 'cluster' | 'signal'>,
): Promise<void> {
  const { name, namespace, uid } = tcp.metadata;
  const ca = wanted.find(({ metadata }) => metadata.name === tenantObjects(name).ca)?.data[dataKeys.ca.certificate];
  const { items } = await cluster.list(tenantControlPlane, { namespace, signal });
  for (const { metadata, spec } of items) {
    if (metadata.uid === uid || spec.controlPlane.deployment.replicas === 0) continue;
    const key = { namespace, name: tenantObjects(metadata.name).ca };
    const found = await cluster.get(kinds.Secret, key, { signal });
    if (ca === undefined || found?.data?.[dataKeys.ca.certificate] !== ca) continue;
    throw new BackupRefusal(
      `TenantControlPlane ${namespace}/${metadata.name} is in use with the CA that ${namespace}/${name} is to get: delete it or put it to sleep; for a second control plane beside it, use type Clone`,
    );
  }
}

/** A Secret with its content. */
export interface IdentitySecret extends Manifest {
  readonly data: Readonly<Record<string, string>>;
}

/** Only names, contents and the component are taken from the backup: all else is as Steward writes it. */
function identitySecrets(tcp: TenantControlPlane, { original, secrets }: Identity): readonly IdentitySecret[] {
  const { name, namespace, uid } = tcp.metadata;
  const { ca } = tenantObjects(name);
  const renamed = new Map(namesOf(original).map((from, at) => [from, namesOf(name)[at] ?? '']));
  const cluster = tcp.metadata.labels?.[clusterNameLabel];
  return secrets.map(({ metadata, data }) => {
    const to = renamed.get(metadata.name) ?? '';
    // Where Cluster API reads this very Secret, it has Cluster API's type, which cannot change later.
    const isClusters = cluster !== undefined && to === ca && to === suppliedSecretName(cluster, 'ca');
    const component = metadata.labels?.[labels.component];
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: to,
        namespace,
        labels: {
          [labels.project]: project,
          [labels.name]: name,
          ...(component !== undefined && { [labels.component]: component }),
        },
        ownerReferences: [{ apiVersion: tcp.apiVersion, kind: tcp.kind, name, uid, controller: true }],
      },
      type: isClusters ? clusterSecretType : 'Opaque',
      data: data as IdentitySecret['data'],
    };
  });
}

const namesOf = (tcp: string): readonly string[] => [...backedUpSecrets(tcp), encryptionKeys(tcp)];

/** Creates the Secret, or brings one of an earlier attempt, which may have begun from another backup, to its content. One that a user has
 * supplied with the same content becomes the control plane's own. */
async function stored(
  tcp: TenantControlPlane,
  manifest: IdentitySecret,
  { cluster, signal }: Pick<Parts, 'cluster' | 'signal'>,
): Promise<void> {
  const key = { namespace: tcp.metadata.namespace, name: manifest.metadata.name };
  try {
    await cluster.create<Secret>(kinds.Secret, manifest, { fieldManager, signal });
    return;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
  }
  const present = await cluster.get(kinds.Secret, key, { signal });
  if (present === undefined) throw inTheWay(tcp, key.name, 'it was created meanwhile');
  if (!isOf(tcp, present)) {
    const why = whyNotTaken(tcp, present, manifest);
    if (why !== undefined) throw inTheWay(tcp, key.name, why);
    const { labels: marks, ownerReferences } = manifest.metadata;
    const { uid, resourceVersion } = present.metadata;
    const body = { metadata: { uid, resourceVersion, labels: marks, ownerReferences }, data: manifest.data };
    await cluster.patch(kinds.Secret, key, { type: 'merge', body }, { fieldManager, signal });
    return;
  }
  if (isDeepStrictEqual(present.data, manifest.data)) return;
  const body = [
    { op: 'test', path: '/metadata/uid', value: present.metadata.uid },
    { op: 'replace', path: '/data', value: manifest.data },
  ];
  await cluster.patch(kinds.Secret, key, { type: 'json', body }, { fieldManager, signal });
}

async function absent(
  tcp: TenantControlPlane,
  name: string,
  { cluster, signal }: Pick<Parts, 'cluster' | 'signal'>,
): Promise<void> {
  const present = await cluster.get(kinds.Secret, { namespace: tcp.metadata.namespace, name }, { signal });
  if (present !== undefined) throw inTheWay(tcp, name, 'the backup has none');
}

const isOf = (tcp: TenantControlPlane, { metadata }: Secret): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) ?? false;

function inTheWay({ metadata }: TenantControlPlane, secret: string, why: string): BackupRefusal {
  const { namespace, name } = metadata;
  return new BackupRefusal(
    `Secret ${secret} exists and is not from a restore of ${namespace}/${name}, which gets the CAs and keys of the backup under this name (${why}): delete it, also if you supplied it as the CA of a Cluster, or give the new control plane another name`,
  );
}
