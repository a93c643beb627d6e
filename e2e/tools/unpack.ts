import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Unpacks a compressed tar archive, or some members of it, into an existing folder with the system's `tar`. */
export const unpack = async (archive: string, into: string, members: readonly string[] = []): Promise<void> => {
  await run('tar', ['-xf', archive, '-C', into, '--no-same-owner', ...members]);
};
