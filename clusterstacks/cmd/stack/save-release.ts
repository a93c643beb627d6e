import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltRelease } from './build-release.ts';
import { readFolder } from './source-tree.ts';
import { StackError } from './stack-error.ts';

/**
 * Writes a release into a folder of its name below `output`, whole or not at all. The same release may be there already.
 * @throws StackError when there is another one.
 */
export async function saveRelease(release: BuiltRelease, output: string): Promise<string> {
  const folder = join(output, release.name);
  const found = await readFolder(folder).catch((error: unknown) => {
    if (error instanceof StackError) return undefined;
    throw error;
  });
  if (found !== undefined) {
    const names = new Set([...found.keys(), ...release.files.keys()]);
    const differing = [...names].find(
      (name) => found.get(name)?.equals(release.files.get(name) ?? Buffer.alloc(0)) !== true,
    );
    if (differing === undefined) return folder;
    throw new StackError(
      `${folder} already contains another release (${differing} differs); choose another version, or remove it if it was never published`,
    );
  }
  const unfinished = join(output, `.${release.name}.unfinished`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  for (const [name, bytes] of release.files) await writeFile(join(unfinished, name), bytes);
  await rename(unfinished, folder);
  return folder;
}
