import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import type { Machine } from './machine.ts';
import { runCommand, tryCommand } from './run-command.ts';
import type { Supplies } from './supplies.ts';

/** How many sets of images are kept. */
const kept = 6;

const inTheMaking = new Map<string, Promise<string>>();

/**
 * A containerd folder into which all images of these supplies were imported, once, in a throw-away machine. It is kept
 * in the cache folder; its name tells the images. Machines are made of hard links to it.
 * @param withMachine lends a machine without images and removes it afterwards.
 */
export async function goldenFolder(
  supplies: Supplies,
  withMachine: (use: (machine: Machine) => Promise<void>) => Promise<void>,
): Promise<string> {
  const folder = path.join(supplies.cacheFolder, 'containerd', await fingerprint(supplies));
  if (existsSync(folder)) return folder;
  const making = inTheMaking.get(folder) ?? make(supplies, folder, withMachine);
  inTheMaking.set(folder, making);
  try {
    return await making;
  } finally {
    inTheMaking.delete(folder);
  }
}

async function make(
  supplies: Supplies,
  folder: string,
  withMachine: (use: (machine: Machine) => Promise<void>) => Promise<void>,
): Promise<string> {
  await mkdir(path.dirname(folder), { recursive: true });
  await withMachine(async (machine) => {
    for (const archive of supplies.images) await machine.importImage(archive);
    await machine.stopContainerd();
    const draft = `${folder}.${randomUUID().slice(0, 8)}`;
    await cloneFolder(path.join(machine.folder, 'rootfs', 'var', 'lib', 'containerd'), draft);
    await rename(draft, folder).catch(async (error: unknown) => {
      await rm(draft, { recursive: true, force: true });
      // Another process may have been quicker with the same images.
      if (!existsSync(folder)) throw error;
    });
  });
  await forgetOld(path.dirname(folder));
  return folder;
}

/** Fills a new machine's containerd folder: content is shared by hard links, databases are its own. */
export async function adoptGolden(golden: string, target: string): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true });
  await cloneFolder(golden, target);
  const databases = (await readdir(golden, { recursive: true })).filter((file) => file.endsWith('.db'));
  for (const database of databases) {
    await rm(path.join(target, database));
    await copyFile(path.join(golden, database), path.join(target, database));
  }
}

/** Hard links where both are on one file system, otherwise copies. */
async function cloneFolder(from: string, to: string): Promise<void> {
  const linked = await tryCommand('cp', ['-al', from, to], { timeoutMs: 120_000 });
  if (linked.code === 0) return;
  await rm(to, { recursive: true, force: true });
  await runCommand('cp', ['-a', '--reflink=auto', from, to], { timeoutMs: 300_000 });
}

/** Changes when any archive or containerd itself changes. */
async function fingerprint(supplies: Supplies): Promise<string> {
  const files = [...supplies.images, ...[supplies.binaries.get('containerd')].filter((file) => file !== undefined)];
  const facts = await Promise.all(
    files.toSorted().map(async (file) => {
      const { size, mtimeMs } = await stat(file);
      return `${path.basename(file)} ${size} ${mtimeMs}`;
    }),
  );
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 16);
}

async function forgetOld(folder: string): Promise<void> {
  const sets = (await readdir(folder)).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const dated = await Promise.all(
    sets.map(async (name) => ({ name, changed: (await stat(path.join(folder, name))).ctimeMs })),
  );
  const old = dated.toSorted((a, b) => b.changed - a.changed).slice(kept);
  await Promise.all(old.map(({ name }) => rm(path.join(folder, name), { recursive: true, force: true })));
}
