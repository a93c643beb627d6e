import type { Tenancy } from '../driver.ts';
import { hostsOf } from './account.ts';
import type { MysqlConnection } from './connection.ts';
import { recordEncryption } from './ownership.ts';
import type { OwnRecord } from './ownership.ts';
import type { Encryption } from './sql.ts';

/**
 * Seconds from the time a datastore gets TLS until existing tenants must encrypt: their pods are replaced by a roll-out, in which
 * the previous ones still open connections. This is safe: pods with TLS files never connect without TLS.
 */
const graceSeconds = 15 * 60;

/**
 * Decides whether an account may be used without TLS now, and records from when on it may not. A new account never may if the datastore has
 * TLS. Throws `MysqlError`.
 */
export async function planEncryption(
  connection: MysqlConnection,
  tenancy: Tenancy,
  { known, offered }: { readonly known: OwnRecord['encryption']; readonly offered: boolean },
): Promise<Encryption> {
  if (!offered) {
    if (known !== 'unplanned') await recordEncryption(connection, tenancy, undefined);
    return 'none';
  }
  if (known !== 'unplanned') return known === 'due' ? 'required' : 'either';
  const lived = (await hostsOf(connection, tenancy.user)).length > 0;
  await recordEncryption(connection, tenancy, lived ? graceSeconds : 0);
  return lived ? 'either' : 'required';
}
