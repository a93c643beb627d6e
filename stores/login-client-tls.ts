import type { ClientTls, Tenancy } from './driver.ts';
import { issuedClientTls } from './issued-client-tls.ts';
import type { LoginConfig } from './login-config.ts';

/**
 * What a tenant gets for TLS towards a store that asks for a password: the CA that its servers are checked against and, where
 * the DataStore holds that CA's key, a client certificate of the tenant's own. The operator's certificate is never passed on:
 * a server may take it for the administrator. `current` is kept while renewing would gain nothing. Throws `StoreError`
 * (CredentialsInvalid) when the CA has expired.
 */
export async function loginClientTls(
  { tls }: Pick<LoginConfig, 'tls'>,
  tenancy: Tenancy,
  current: ClientTls | undefined,
  now: Date,
): Promise<ClientTls | undefined> {
  if (tls?.signer === undefined) return tls && { ca: tls.ca };
  return issuedClientTls({ ca: tls.ca, signer: tls.signer }, tenancy, current, now);
}
