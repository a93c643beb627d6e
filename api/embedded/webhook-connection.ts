import { described, obj, opt, str } from '../schema.ts';
import { httpsUrl } from './https-url.ts';

const credentialsSecretRef = obj({ name: described(str({ minLength: 1, maxLength: 253 }), 'Name of the Secret.') });

/** How kube-apiserver reaches an HTTPS server that its author runs, and what it presents there. */
export const webhookConnectionFields = {
  url: described(httpsUrl, 'HTTPS URL that kube-apiserver calls, without user, query or fragment.'),
  certificateAuthority: opt(
    described(
      str({ minLength: 1, maxLength: 65_536 }),
      'CA certificates in PEM form that verify the certificate of the server. Defaults to those of the image of kube-apiserver.',
    ),
  ),
  credentialsSecretRef: opt(
    described(
      credentialsSecretRef,
      'Secret in the namespace of the control plane with credentials for the server: `token`, or `tls.crt` and `tls.key`, or `username` and `password`.',
    ),
  ),
} as const;

/** The connection to a webhook of kube-apiserver. */
export interface WebhookConnection {
  readonly url: string;
  readonly certificateAuthority?: string;
  readonly credentialsSecretRef?: { readonly name: string };
}
