import type { Manifest } from '../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { secret } from '../shared/secret.ts';

/** Where a certificate is kept. */
export interface LeafSecret {
  /** Name of the certificate. */
  readonly leaf: string;
  readonly name: string;
  /** Component label, and the pods' checksum label. */
  readonly component: string;
  readonly keys: { readonly certificate: string; readonly key: string };
  /** The type of the Secret; Opaque by default. */
  readonly type?: 'kubernetes.io/tls';
}

/** The Secrets of the certificates that the API server uses. */
export function leafSecrets(tcp: TenantControlPlane): readonly LeafSecret[] {
  const names = tenantObjects(tcp.metadata.name);
  return [
    { leaf: 'apiserver', name: names.apiServer, component: 'api-server-certificate', keys: dataKeys.apiServer },
    {
      leaf: 'apiserver-kubelet-client',
      name: names.apiServerKubeletClient,
      component: 'api-server-kubelet-client-certificate',
      keys: dataKeys.apiServerKubeletClient,
    },
    {
      leaf: 'front-proxy-client',
      name: names.frontProxyClient,
      component: 'front-proxy-client-certificate',
      keys: dataKeys.frontProxyClient,
    },
  ];
}

/** The values of a certificate's Secret. */
export function leafData(where: LeafSecret, pair: KeyPair): Readonly<Record<string, string>> {
  return { [where.keys.certificate]: pair.certificate, [where.keys.key]: pair.key };
}

/** A certificate as a Secret. */
export function leafSecret(
  tcp: TenantControlPlane,
  where: LeafSecret,
  leaf: { readonly pair: KeyPair; readonly rotated?: string | undefined },
): Manifest {
  return secret(tcp, {
    name: where.name,
    component: where.component,
    data: leafData(where, leaf.pair),
    lifecycle: 'x509',
    type: where.type,
    rotated: leaf.rotated,
  });
}
