import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { AuthorityName } from '../../../kubeadm/pki/profiles.ts';

/** The keys of a CA's pair in its Secret. */
interface Copy {
  readonly certificate: string;
  readonly key: string;
  /** True if all other certificates to trust follow the CA's own in this copy. */
  readonly isBundle?: true;
}

/** Which Secret holds a CA, and under which keys. `copies` hold the same pair under other names. */
export interface AuthoritySecret {
  readonly authority: AuthorityName;
  readonly name: string;
  readonly component: string;
  readonly copies: readonly Copy[];
  /** The keys that a rotation uses. */
  readonly keys: {
    readonly bundle: string;
    readonly nextCertificate: string;
    readonly nextKey: string;
    readonly previousCertificate: string;
    readonly previousKey: string;
  };
}

/** The Secrets of both CAs. */
export function authoritySecrets(tcp: TenantControlPlane): readonly AuthoritySecret[] {
  const names = tenantObjects(tcp.metadata.name);
  const { ca, frontProxyCa } = dataKeys;
  return [
    {
      authority: 'ca',
      name: names.ca,
      component: 'ca',
      copies: [
        { certificate: ca.certificate, key: ca.key },
        { certificate: ca.clusterApiCertificate, key: ca.clusterApiKey, isBundle: true },
      ],
      keys: ca,
    },
    {
      authority: 'front-proxy-ca',
      name: names.frontProxyCa,
      component: 'front-proxy-ca-certificate',
      copies: [{ certificate: frontProxyCa.certificate, key: frontProxyCa.key }],
      keys: frontProxyCa,
    },
  ];
}
