import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import { suppliedSecretName } from '../../../api/cluster-api/supplied-secrets.ts';
import type { SuppliedPurpose } from '../../../api/cluster-api/supplied-secrets.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { parsePrivateKey } from '../../../kubeadm/pki/private-key.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { suppliedRoot } from './user-supplied-ca.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** What the user supplied for those roots of a Cluster's tenant that do not exist yet. */
export interface SuppliedRoots {
  /** Absent when the tenant belongs to no Cluster, or has all of its roots. */
  readonly cluster?: string;
  readonly pairs: ReadonlyMap<SuppliedPurpose, KeyPair>;
  /** What is wrong and what to do: nothing may be created before it is fixed. */
  readonly trouble?: string;
}

const none: SuppliedRoots = { pairs: new Map() };

const publicKey = ({ key }: KeyPair): KeyObject => createPublicKey(parsePrivateKey(key, 'tls.key'));

const isSignedBy = ({ certificate }: KeyPair, signer: KeyPair): boolean =>
  parseCertificates(certificate, 'tls.crt')[0].verify(publicKey(signer));

/**
 * How the two CAs are related, as a phrase; undefined if they are not. If they have the same key, or one signed the other,
 * a user of the CA could get a certificate with the name of the API server's proxy client, and impersonate anyone to
 * extension API servers
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#ca-reusage-and-conflicts): a client may
 * present the certificates between its own and the trusted one.
 */
function kinship(pairs: ReadonlyMap<SuppliedPurpose, KeyPair>): string | undefined {
  const [ca, proxy] = [pairs.get('ca'), pairs.get('proxy')];
  if (ca === undefined || proxy === undefined) return undefined;
  if (publicKey(ca).equals(publicKey(proxy))) return 'the same key';
  return isSignedBy(ca, proxy) || isSignedBy(proxy, ca) ? 'one CA signed by the other' : undefined;
}

/** True for a Secret without an owner: its author may have forgotten the label, without which it is not used. */
const isUnlabeled = (secret: Secret | undefined): boolean =>
  secret !== undefined &&
  secret.metadata.labels?.[clusterNameLabel] === undefined &&
  (secret.metadata.ownerReferences ?? []).length === 0;

/** Finds user-supplied pairs for these roots. Only a tenant without these roots is checked: later Secrets change nothing. */
export async function suppliedRoots(
  { tcp }: Readonly<Scope>,
  purposes: readonly SuppliedPurpose[],
  { deps, ctx }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<SuppliedRoots> {
  if (purposes.length === 0) return none;
  const cluster = await deps.clusterOf(tcp, ctx);
  if (cluster === undefined) return none;
  const { namespace, name: tenant } = tcp.metadata;
  const pairs = new Map<SuppliedPurpose, KeyPair>();
  const errors: string[] = [];
  await Promise.all(
    purposes.map(async (purpose) => {
      const name = suppliedSecretName(cluster, purpose);
      const secret = await deps.cluster.get(kinds.Secret, { namespace, name }, { signal: ctx.signal });
      const isInPlace = name === tenantObjects(tenant).ca;
      const found = suppliedRoot(secret, { cluster, purpose, now: ctx.now, isInPlace });
      if (found.is === 'fit') pairs.set(purpose, found.pair);
      if (found.is === 'none' && !isInPlace && isUnlabeled(secret))
        ctx.event(
          'Warning',
          'SuppliedCAIgnored',
          `Secret ${name} has the name of a user-supplied key pair of Cluster ${cluster} but not the label ${clusterNameLabel}: the control plane generates its own. To have it used, label it before the Cluster is created`,
        );
      if (found.is === 'unfit')
        errors.push(
          `Secret ${name} was supplied for the Cluster ${cluster} but cannot be used (${found.why}): correct it, or delete it to have one generated`,
        );
    }),
  );
  const kin = kinship(pairs);
  if (kin !== undefined)
    errors.push(
      `Secrets ${suppliedSecretName(cluster, 'ca')} and ${suppliedSecretName(cluster, 'proxy')} were supplied with ${kin}, which would let users impersonate the API server: supply an unrelated CA in the second one, or delete it to have one generated`,
    );
  const trouble = errors.sort().join('; ');
  return { cluster, pairs, ...(trouble !== '' && { trouble }) };
}
