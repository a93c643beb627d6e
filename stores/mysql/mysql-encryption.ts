import type { Tenancy } from '../driver.ts';
import { hostsOf } from './mysql-account.ts';
import type { MysqlConnection } from './mysql-connection.ts';
import { recordEncryption } from './mysql-ownership.ts';
import type { OwnRecord } from './mysql-ownership.ts';
import type { Encryption } from './mysql-sql.ts';

/**
 * Seconds from when a store has TLS until tenants that lived in it without have to encrypt: their pods learn of it by a
 * roll-out, in which the old ones still open connections. It costs nothing: pods that know of TLS use it and nothing else.
 */
const graceSeconds = 15 * 60;

/**
 * Whether an account can be used without TLS now, and records from when on it cannot. A new account never can where the store
 * has TLS. Throws `MysqlError`.
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
