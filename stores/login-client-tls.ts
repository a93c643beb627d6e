import type { ClientTls, Tenancy } from './driver.ts';
import { issuedClientTls } from './issued-client-tls.ts';
import type { LoginConfig } from './login-config.ts';

/**
 * The TLS files of a tenant for a datastore with passwords: the CA of the servers and, if the DataStore contains that CA's key, a client
 * certificate of the tenant. The manager's certificate is never passed on, because a server may accept it as the administrator.
 * `current` is returned while a renewal would gain nothing. Throws `StoreError` (CredentialsInvalid) when the CA has expired.
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
