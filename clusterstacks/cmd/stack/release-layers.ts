import { isDeepStrictEqual } from 'node:util';
import { unpackArchive } from './archive.ts';
import type { Files } from './release-files.ts';
import { parseYaml } from './source-tree.ts';

/** What a release is made of, layer by layer: the class, each stage of the add-ons, and the files beside them. */
export type Layers = ReadonlyMap<string, Files>;

/** One difference between two releases. */
export interface Change {
  readonly layer: string;
  /** Empty where the layer is one file. */
  readonly path: string;
  readonly what: 'added' | 'removed' | 'changed';
  /** The first line that differs, counted from one. */
  readonly line?: number;
}

/** Files that contain the version, or follow from others; they always differ between two releases. */
const aboutItself = new Set(['metadata.yaml', 'hashes.json']);

/** The layers of a release. */
export async function layersOf(files: Files): Promise<Layers> {
  const layers = new Map<string, Map<string, Buffer>>();
  const put = (layer: string, path: string, bytes: Buffer): void => {
    layers.set(layer, (layers.get(layer) ?? new Map<string, Buffer>()).set(path, bytes));
  };
  for (const [name, bytes] of files) {
    if (aboutItself.has(name)) continue;
    const [, kind] = /-(cluster-class|cluster-addon|node-image)-v[^/]*\.tgz$/.exec(name) ?? [];
    if (kind === undefined) {
      put(name, '', bytes);
      continue;
    }
    const isStaged = kind === 'cluster-addon' && files.has('clusteraddon.yaml');
    for (const [path, inner] of await unpackArchive(bytes, name)) {
      const slash = path.indexOf('/');
      const top = slash === -1 ? '' : path.slice(0, slash);
      put(isStaged && top !== '' ? `${kind}/${top}` : kind, path.slice(slash + 1), inner);
    }
  }
  return layers;
}

/** What differs between two releases, in the order of names. */
export function changesBetween(before: Layers, after: Layers): readonly Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((layer) => {
    const [old, now] = [before.get(layer) ?? new Map<string, Buffer>(), after.get(layer) ?? new Map<string, Buffer>()];
    const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
    return paths.flatMap((path) => changeOf({ layer, path }, old.get(path), now.get(path)));
  });
}

function changeOf(
  where: Pick<Change, 'layer' | 'path'>,
  old: Buffer | undefined,
  now: Buffer | undefined,
): readonly Change[] {
  if (old === undefined) return [{ ...where, what: 'added' }];
  if (now === undefined) return [{ ...where, what: 'removed' }];
  if (old.equals(now) || (where.path === 'Chart.yaml' && sayTheSame(old, now))) return [];
  if (old.includes(0) || now.includes(0)) return [{ ...where, what: 'changed' }];
  const lines = old.toString('utf8').split('\n');
  const line = now
    .toString('utf8')
    .split('\n')
    .findIndex((text, index) => text !== lines[index]);
  return [{ ...where, what: 'changed', line: line === -1 ? lines.length : line + 1 }];
}

/** csctl rewrites Chart.yaml without comments and in another order. */
function sayTheSame(a: Buffer, b: Buffer): boolean {
  try {
    return isDeepStrictEqual(parseYaml('Chart.yaml', a.toString('utf8')), parseYaml('Chart.yaml', b.toString('utf8')));
  } catch {
    return false;
  }
}
