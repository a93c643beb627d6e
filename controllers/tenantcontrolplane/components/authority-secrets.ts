import type { Manifest } from '../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { AuthorityName } from '../../../kubeadm/pki/profiles.ts';
import type { ServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { secret } from './secret.ts';

type Data = Readonly<Record<string, string>>;

/** Which Secret holds an authority, and under which keys. `copies` hold the same pair under other names. */
export interface AuthoritySecret {
  readonly authority: AuthorityName;
  readonly name: string;
  readonly component: string;
  readonly copies: readonly { readonly certificate: string; readonly key: string }[];
}

/** The Secrets of both authorities. */
export function authoritySecrets(tcp: TenantControlPlane): readonly AuthoritySecret[] {
  const names = tenantObjects(tcp.metadata.name ?? '');
  const { ca, frontProxyCa } = dataKeys;
  return [
    {
      authority: 'ca',
      name: names.ca,
      component: 'ca',
      copies: [
        { certificate: ca.certificate, key: ca.key },
        { certificate: ca.clusterApiCertificate, key: ca.clusterApiKey },
      ],
    },
    {
      authority: 'front-proxy-ca',
      name: names.frontProxyCa,
      component: 'front-proxy-ca-certificate',
      copies: [{ certificate: frontProxyCa.certificate, key: frontProxyCa.key }],
    },
  ];
}

/** The values of an authority's Secret. */
export function authorityData(where: AuthoritySecret, pair: KeyPair): Data {
  return Object.fromEntries(
    where.copies.flatMap((copy) => [
      [copy.certificate, pair.certificate],
      [copy.key, pair.key],
    ]),
  );
}

/** An authority as a Secret. */
export function authoritySecret(
  tcp: TenantControlPlane,
  where: AuthoritySecret,
  authority: { readonly pair: KeyPair; readonly rotated?: string | undefined },
): Manifest {
  const data = authorityData(where, authority.pair);
  return secret(tcp, { name: where.name, component: where.component, data, rotated: authority.rotated });
}

/** The values of the Secret with the keys of service-account tokens. */
export function serviceAccountData(keys: ServiceAccountKeys): Data {
  return { [dataKeys.serviceAccount.publicKey]: keys.publicKey, [dataKeys.serviceAccount.key]: keys.privateKey };
}

/** The keys of service-account tokens as a Secret. */
export function serviceAccountSecret(
  tcp: TenantControlPlane,
  input: { readonly keys: ServiceAccountKeys; readonly rotated?: string | undefined },
): Manifest {
  return secret(tcp, {
    name: tenantObjects(tcp.metadata.name ?? '').serviceAccount,
    component: 'sa-certificate',
    data: serviceAccountData(input.keys),
    rotated: input.rotated,
  });
}
