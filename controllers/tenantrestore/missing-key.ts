import { kinds } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { BackupKey } from '../../stores/backup/backup-key.ts';
import type { RestoreSource } from './restore-source.ts';

/**
 * What is waited for, for a person, while the key that opens the backups is not there; undefined once it is. A process that did not find
 * it would give up after some minutes.
 */
export async function missingKey(
  { encryption: { keySecret } }: RestoreSource,
  { namespace }: Required<Pick<Key, 'namespace'>>,
  { cluster, signal }: { readonly cluster: Cluster; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { name, key } = keySecret;
  const secret = await cluster.get(kinds.Secret, { namespace, name }, { signal });
  const named = `Secret ${namespace}/${name}`;
  const wanted = 'the one that the backups were encrypted with';
  if (secret === undefined) return `waiting for ${named}, whose key "${key}" has to be ${wanted}: create it`;
  const value = secret.data?.[key];
  if (value === undefined) return `waiting for the key "${key}" in ${named}, which has to be ${wanted}: add it`;
  if (BackupKey.isKey(Buffer.from(value, 'base64').toString())) return undefined;
  return `the key "${key}" in ${named} is not the base64 of 32 bytes, and so not ${wanted}: correct it`;
}
