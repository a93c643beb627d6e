import { createPublicKey } from 'node:crypto';
import type { Secret } from '../../../api/core/kinds.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { parsePrivateKey } from '../../../kubeadm/pki/private-key.ts';
import { secretText } from '../shared/secret.ts';

/** What kube-apiserver presents to a webhook, as the `user` of a kubeconfig. */
export type WebhookCredentials =
  | { readonly token: string }
  | { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  | { readonly username: string; readonly password: string };

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Why the certificate and the key cannot be used: kube-apiserver would not start with them. */
function pairTrouble(certificate: string, key: string): string | undefined {
  try {
    const [first] = parseCertificates(certificate, 'tls.crt');
    const isPair = first.publicKey.equals(createPublicKey(parsePrivateKey(key, 'tls.key')));
    return isPair ? undefined : 'has a tls.key that does not belong to its tls.crt';
  } catch {
    return 'has a tls.crt or tls.key that is not PEM';
  }
}

/** Reads credentials; or says what is wrong with the Secret, as the end of a sentence without a value from it. */
export function webhookCredentials(secret: Secret | undefined): WebhookCredentials | { readonly trouble: string } {
  if (secret === undefined) return { trouble: 'does not exist' };
  const { token, 'tls.crt': certificate, 'tls.key': key, username, password } = secretText(secret.data);
  const present = [
    ...(token === undefined ? [] : ['token']),
    ...(certificate === undefined || key === undefined ? [] : ['tls.crt and tls.key']),
    ...(username === undefined || password === undefined ? [] : ['username and password']),
  ];
  if (present.length !== 1) {
    const found = present.length === 0 ? 'none of these' : 'more than one of these';
    return { trouble: `has ${found}: token; tls.crt with tls.key; username with password` };
  }
  if (token !== undefined) {
    // In a header; a line break at its end is one of the editor with which it was written.
    const text = token.trimEnd();
    return /^[\x21-\x7e]+$/.test(text) ? { token: text } : { trouble: 'has a token that cannot be sent in a header' };
  }
  if (certificate !== undefined && key !== undefined) {
    const trouble = pairTrouble(certificate, key);
    if (trouble !== undefined) return { trouble };
    return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  }
  return { username: username ?? '', password: password ?? '' };
}
