import { readFileSync } from 'node:fs';
import { kinds } from '../../api/core/kinds.ts';
import { describeFailure } from '../../runtime/observe/describe-failure.ts';
import { BackupKey } from '../../stores/backup/backup-key.ts';
import type { CommandParts } from '../command-parts.ts';
import { UsageError } from '../flags/flags.ts';
import { BackupRefusal } from './backup-refusal.ts';

/** Reads the key of backups. */
export type KeyReader = (parts: Pick<CommandParts, 'cluster' | 'signal'>) => Promise<BackupKey>;

/** Where the key is. */
export interface KeyFlags {
  readonly 'key-file': string;
  readonly 'key-secret': string;
}

/**
 * A file is read at once; a Secret is read once the management cluster is there. The reader throws `BackupRefusal`.
 * @throws UsageError for flags that name no key.
 */
export function keyReader({ 'key-file': file, 'key-secret': secret }: KeyFlags): KeyReader {
  if (file !== '' && secret !== '') throw new UsageError('set one of --key-file and --key-secret');
  if (secret !== '') {
    const [namespace = '', name = '', key = '', ...more] = secret.split('/');
    if (namespace === '' || name === '' || key === '' || more.length > 0) {
      throw new UsageError(`--key-secret takes namespace/name/key, got "${secret}"`);
    }
    return (parts) => keyOfSecret({ namespace, name, key }, parts);
  }
  if (file === '') throw new UsageError('expecting a value for --key-file or --key-secret arg');
  try {
    const key = new BackupKey(readFileSync(file, 'utf8'));
    return () => Promise.resolve(key);
  } catch (error) {
    throw new UsageError(`--key-file: ${describeFailure(error)}`, { cause: error });
  }
}

async function keyOfSecret(
  { namespace, name, key }: { readonly namespace: string; readonly name: string; readonly key: string },
  { cluster, signal }: Pick<CommandParts, 'cluster' | 'signal'>,
): Promise<BackupKey> {
  const value = (await cluster.get(kinds.Secret, { namespace, name }, { signal }))?.data?.[key];
  if (value === undefined) {
    throw new BackupRefusal(
      `Secret ${namespace}/${name} has no key ${key}: create it with the output of "openssl rand -base64 32"`,
    );
  }
  try {
    return new BackupKey(Buffer.from(value, 'base64').toString());
  } catch (error) {
    throw new BackupRefusal(`${key} in Secret ${namespace}/${name}: ${describeFailure(error)}`, { cause: error });
  }
}
