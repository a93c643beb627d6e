import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';

const underWay = new Map<string, Promise<void>>();

/**
 * Puts files under their names into a folder, as hard links where the file system allows, otherwise as copies. Done
 * once per process and folder.
 */
export async function layOutBinaries(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  const laying = underWay.get(folder) ?? layOut(files, folder);
  underWay.set(folder, laying);
  try {
    await laying;
  } catch (error) {
    underWay.delete(folder);
    throw error;
  }
}

async function layOut(files: ReadonlyMap<string, string>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, file] of files) {
    const draft = path.join(folder, `.${name}.${randomUUID()}`);
    await linkOrCopy(await realpath(file), draft);
    await rename(draft, path.join(folder, name));
    // Renaming a hard link onto its own twin does nothing and leaves the draft.
    await rm(draft, { force: true });
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await copyFile(from, to);
  }
}
