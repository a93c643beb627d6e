/** What encrypts data in the datastore, without its key. */
export type Provider =
  | { readonly kind: 'identity' }
  | { readonly kind: 'secretbox' | 'aescbc' | 'aesgcm'; readonly name: string }
  | {
      readonly kind: 'kms';
      readonly name: string;
      readonly container: string;
      readonly timeoutSeconds?: number | undefined;
    };

/** Data in plain text. */
export const identity: Provider = { kind: 'identity' };

/** What identifies a provider in stored data, such as `secretbox/key-1`; `identity` for plain text. */
export function providerId(provider: Provider): string {
  return provider.kind === 'identity' ? provider.kind : `${provider.kind}/${provider.name}`;
}

/** The key of a Secret's data under which the encryption key is; undefined for a provider that has none. */
export function keyEntry(provider: Provider): string | undefined {
  return provider.kind === 'identity' || provider.kind === 'kms' ? undefined : `${provider.kind}.${provider.name}`;
}
