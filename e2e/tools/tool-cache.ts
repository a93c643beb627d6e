import { createHash, randomUUID } from 'node:crypto';
import { access, chmod, constants, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorCode } from './error-code.ts';
import type { ModulePin, Platform, ToolPin } from './pins.ts';

/** Where pinned binaries are kept, one folder per tool, version and platform. */
export interface ToolCache {
  readonly folder: string;
  /** The absolute path of a usable binary, or undefined. A binary that was built from another recipe does not count. */
  find(pin: ToolPin): Promise<string | undefined>;
  /** Moves a finished file into place; readers see the old one or the new one. `origin` tells where it came from. */
  install(pin: ToolPin, file: string, origin: Origin): Promise<string>;
  /** A fresh folder on the same file system, for work in progress. The caller removes it. */
  scratch(): Promise<string>;
}

/** How a cached binary came to be. */
export type Origin = { readonly downloadedFrom: string; readonly sha256: string } | { readonly builtFrom: string };

/** True when the file exists and may be executed. */
export const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    // Absent, or not ours to run: either way it is no candidate.
    return false;
  }
};

const usualFiles: readonly string[] = ['go.mod', 'go.sum', 'main.go'];

/** A checksum over all that decides what a build produces, except the Go release. */
export const buildRecipe = async (source: ModulePin, modules: string): Promise<string> => {
  const hash = createHash('sha256').update(JSON.stringify(source));
  const folder = join(modules, source.folder);
  for (const file of usualFiles) {
    try {
      hash.update(file).update(await readFile(join(folder, file)));
    } catch (error) {
      // A module without dependencies has no go.sum, and only programs of ours have a main.go.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const others = files.map((file) => relative(folder, file)).filter((file) => !usualFiles.includes(file));
  for (const file of others.toSorted()) hash.update(file).update(await readFile(join(folder, file)));
  return hash.digest('hex');
};

/** The cache below `folder`; `modules` is the folder of the pinned modules. */
export const toolCache = (folder: string, modules: string, { os, arch }: Platform): ToolCache => {
  const place = (pin: ToolPin): string => join(folder, pin.name, pin.source.version, `${os}-${arch}`);
  return {
    folder,
    async find(pin) {
      const binary = join(place(pin), pin.name);
      if (!(await isExecutable(binary))) return undefined;
      const origin = JSON.parse(await readFile(join(place(pin), 'origin.json'), 'utf8')) as Origin;
      if ('builtFrom' in origin && origin.builtFrom !== (await buildRecipe(pin.source, modules))) return undefined;
      return binary;
    },
    async install(pin, file, origin) {
      await mkdir(place(pin), { recursive: true });
      await chmod(file, 0o755);
      const note = join(place(pin), `origin.${randomUUID()}`);
      await writeFile(note, `${JSON.stringify(origin)}\n`);
      // The note first: a binary without its note would be unreadable for a concurrent reader.
      await rename(note, join(place(pin), 'origin.json'));
      await rename(file, join(place(pin), pin.name));
      return join(place(pin), pin.name);
    },
    async scratch() {
      const path = join(folder, 'tmp', randomUUID());
      await rm(path, { recursive: true, force: true });
      await mkdir(path, { recursive: true });
      return path;
    },
  };
};
