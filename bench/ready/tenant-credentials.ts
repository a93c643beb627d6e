import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';

import { parse } from 'yaml';

interface Kubeconfig {
  readonly clusters?: readonly { readonly cluster?: { readonly 'certificate-authority-data'?: string } }[];
  readonly users?: readonly {
    readonly user?: { readonly 'client-certificate-data'?: string; readonly 'client-key-data'?: string };
  }[];
}

/**
 * What a TLS client needs to talk to a control plane as the user of a kubeconfig with one cluster and one user.
 * @throws Error when the kubeconfig lacks a certificate or key.
 */
export function tenantCredentials(kubeconfig: string): SecureContext {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig;
  const ca = clusters?.[0]?.cluster?.['certificate-authority-data'];
  const { 'client-certificate-data': cert, 'client-key-data': key } = users?.[0]?.user ?? {};
  if (ca === undefined || cert === undefined || key === undefined) {
    throw new Error('the kubeconfig needs certificate-authority-data, client-certificate-data and client-key-data');
  }
  const decode = (text: string): Buffer => Buffer.from(text, 'base64');
  return createSecureContext({ ca: decode(ca), cert: decode(cert), key: decode(key) });
}
