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
import type { Context } from '../../../runtime/controller.ts';
import { suppliedRoot } from '../components/supplied-root.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';

/** What the author of a tenant's Cluster supplied for the roots of which the tenant has none yet. */
export interface SuppliedRoots {
  /** Absent when the tenant is for no Cluster, or has all of its roots. */
  readonly cluster?: string;
  readonly pairs: ReadonlyMap<SuppliedPurpose, KeyPair>;
  /** What is wrong and what helps, in words: nothing may be made before that is put right. */
  readonly trouble?: string;
}

const none: SuppliedRoots = { pairs: new Map() };

const publicKey = ({ key }: KeyPair): KeyObject => createPublicKey(parsePrivateKey(key, 'tls.key'));

const isSignedBy = ({ certificate }: KeyPair, signer: KeyPair): boolean =>
  parseCertificates(certificate, 'tls.crt')[0].verify(publicKey(signer));

/**
 * In what the two are one, in words; undefined when they are not. With one key for both, or one above the other, who has a certificate
 * of the CA under the name of the API server's proxy client could speak for anybody to extension API servers
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/configure-aggregation-layer/#ca-reusage-and-conflicts): a client may show the
 * certificates between its own and the trusted one.
 */
function kinship(pairs: ReadonlyMap<SuppliedPurpose, KeyPair>): string | undefined {
  const [ca, proxy] = [pairs.get('ca'), pairs.get('proxy')];
  if (ca === undefined || proxy === undefined) return undefined;
  if (publicKey(ca).equals(publicKey(proxy))) return 'one key for both';
  return isSignedBy(ca, proxy) || isSignedBy(proxy, ca) ? 'one of them signed by the other' : undefined;
}

/** True for a Secret that belongs to nobody: its author may have forgotten the label without which nothing is taken. */
const isUnlabelled = (secret: Secret | undefined): boolean =>
  secret !== undefined &&
  secret.metadata.labels?.[clusterNameLabel] === undefined &&
  (secret.metadata.ownerReferences ?? []).length === 0;

/** Looks for what was supplied for these roots. Only a tenant that is still to be given them is looked at: later ones change nothing. */
export async function suppliedRoots(
  { tcp }: Readonly<Scope>,
  purposes: readonly SuppliedPurpose[],
  { deps, ctx }: { readonly deps: Dependencies; readonly ctx: Context },
): Promise<SuppliedRoots> {
  if (purposes.length === 0) return none;
  const cluster = await deps.clusterOf(tcp, ctx);
  if (cluster === undefined) return none;
  const { namespace = '', name: tenant = '' } = tcp.metadata;
  const pairs = new Map<SuppliedPurpose, KeyPair>();
  const complaints: string[] = [];
  await Promise.all(
    purposes.map(async (purpose) => {
      const name = suppliedSecretName(cluster, purpose);
      const secret = await deps.cluster.get(kinds.Secret, { namespace, name }, { signal: ctx.signal });
      const isInPlace = name === tenantObjects(tenant).ca;
      const found = suppliedRoot(secret, { cluster, purpose, now: ctx.now, isInPlace });
      if (found.is === 'fit') pairs.set(purpose, found.pair);
      if (found.is === 'none' && !isInPlace && isUnlabelled(secret))
        ctx.event(
          'Warning',
          'AuthorityNotTaken',
          `Secret ${name} has the name of what is supplied for the Cluster ${cluster}, and not the label ${clusterNameLabel}: the control plane makes its own. To have it taken, label it before the Cluster is made`,
        );
      if (found.is === 'unfit')
        complaints.push(
          `Secret ${name} was supplied for the Cluster ${cluster} and is of no use (${found.why}): put it right, or delete it to have one made`,
        );
    }),
  );
  const kin = kinship(pairs);
  if (kin !== undefined)
    complaints.push(
      `Secrets ${suppliedSecretName(cluster, 'ca')} and ${suppliedSecretName(cluster, 'proxy')} were supplied with ${kin}, by which users could pass for the API server: give the second another, which is neither above nor below the first, or delete it to have one made`,
    );
  const trouble = complaints.sort().join('; ');
  return { cluster, pairs, ...(trouble !== '' && { trouble }) };
}
