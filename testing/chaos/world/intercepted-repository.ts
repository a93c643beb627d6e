import type { BackupRepository } from '../../../stores/backup/backup-repository.ts';
import type { Pass, ProductCall } from './product-call.ts';

/** The repository as a process uses it, each call of which is passed on by what stands in between. */
export function interceptedRepository(repository: BackupRepository, pass: Pass): BackupRepository {
  const callOf = (verb: string, name: string, isWrite: boolean): ProductCall => ({
    to: 'repository',
    isWrite,
    isAside: false,
    text: `repository ${verb} ${folderOf(name)}`,
  });
  return {
    read: (name) => pass(callOf('read', name, false), () => repository.read(name)),
    write: (name, content) => pass(callOf('write', name, true), () => repository.write(name, content)),
    list: (prefix) => pass(callOf('list', prefix, false), () => repository.list(prefix)),
    remove: (name) => pass(callOf('remove', name, true), () => repository.remove(name)),
  };
}

/** Names of files are made of moments and hashes. */
const folderOf = (name: string): string => name.split('/').slice(-2, -1).join('/');
