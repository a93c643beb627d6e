import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Source } from './provenance.ts';

const run = promisify(execFile);

/** The commit that is checked out in a folder, and whether files differ from it. */
export async function readSource(folder: string): Promise<Source> {
  try {
    const [commit, changes] = await Promise.all([
      run('git', ['rev-parse', 'HEAD'], { cwd: folder }),
      run('git', ['status', '--porcelain'], { cwd: folder }),
    ]);
    return { commit: commit.stdout.trim(), isChanged: changes.stdout.trim() !== '' };
  } catch {
    // Without Git, or from an archive of the source.
    return { isChanged: true };
  }
}
