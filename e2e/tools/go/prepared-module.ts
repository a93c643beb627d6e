import { chmod, copyFile, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModulePin } from '../pins.ts';
import { runGo } from './run-go.ts';
import type { Go } from './run-go.ts';

/** The module cache is read-only. */
const makeWritable = async (folder: string): Promise<void> => {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
};

const downloaded = async (go: Go, folder: string, module: string): Promise<string> => {
  const answer = JSON.parse(await runGo(go, folder, ['mod', 'download', '-json', module])) as { Dir?: string };
  if (answer.Dir === undefined) throw new Error(`go mod download of ${module} in ${folder} named no folder`);
  return answer.Dir;
};

/**
 * The folder in which a module is built: its own below `modules`, or, where files of dependencies are replaced, a copy of it below `into`
 * with copies of these dependencies. The copies are named by relative paths, so that the bytes are the same in every folder.
 */
export const preparedModule = async (go: Go, modules: string, source: ModulePin, into: string): Promise<string> => {
  const own = join(modules, source.folder);
  if (source.replacedFiles === undefined) return own;
  const copy = join(into, 'module');
  await cp(own, copy, { recursive: true });
  const byModule = Map.groupBy(source.replacedFiles, ({ module }) => module);
  for (const [index, [module, files]] of [...byModule].entries()) {
    const place = `./replaced/${index}`;
    const dependency = join(copy, place);
    await cp(await downloaded(go, own, module), dependency, { recursive: true });
    await makeWritable(dependency);
    for (const { file, by } of files) await copyFile(join(own, by), join(dependency, file));
    await runGo(go, copy, ['mod', 'edit', `-replace=${module}=${place}`]);
  }
  return copy;
};
