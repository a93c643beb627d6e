import type { Finding } from './finding.ts';
import type { KnownRelease } from './known-release.ts';
import { changesBetween, layersOf } from './release-layers.ts';
import type { Layers } from './release-layers.ts';

const isAddon = (layer: string): boolean => layer.startsWith('cluster-addon') || layer === 'clusteraddon.yaml';

/** Which part of a release carries which version. */
const parts = [
  { what: 'add-ons', field: 'clusterAddon', has: isAddon },
  { what: 'the cluster stack', field: 'clusterStack', has: () => true },
  {
    what: 'node images',
    field: 'nodeImage',
    has: (layer: string) => layer === 'node-image' || layer === 'node-images.yaml',
  },
] as const;

const only = (layers: Layers, has: (layer: string) => boolean): Layers =>
  new Map([...layers].filter(([layer]) => has(layer)));

/**
 * Compares a built release with others of its stack and minor: one version must not mean two things, because clusters whose
 * add-ons have that version already would be left as they are.
 */
export async function lintRelease(release: KnownRelease, others: readonly KnownRelease[]): Promise<readonly Finding[]> {
  const layers = await layersOf(release.files);
  const found: Finding[] = [];
  for (const other of others) {
    const theirs = await layersOf(other.files);
    for (const { what, field, has } of parts) {
      const version = release.metadata[field];
      if (version === undefined || version !== other.metadata[field]) continue;
      const [change] = changesBetween(only(theirs, has), only(layers, has));
      if (change === undefined) continue;
      const path = change.path === '' ? change.layer : `${change.layer}/${change.path}`;
      found.push({
        where: release.name,
        problem: `${what} ${version} changed since ${other.name} (${path} is ${change.what}) but has the same version; use the next version`,
      });
    }
  }
  return found;
}
