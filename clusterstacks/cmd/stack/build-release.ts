import { parseClusterAddonConfig } from '../../sources/cluster-addon-config.ts';
import { packArchive } from './archive.ts';
import { withoutIgnored } from './chart-ignore.ts';
import { fileHash, treeHash } from './dirhash.ts';
import type { Files } from './release-files.ts';
import { filesIn } from './source-tree.ts';
import type { SourceTree } from './source-tree.ts';
import { StackError } from './stack-error.ts';
import { dashedVersion } from './stack-version.ts';
import { withChartName, withVersions } from './stamp.ts';
import type { ReleaseVersions } from './stamp.ts';

/** What csctl notes of a tree, to find out later what changed. */
export interface ReleaseHashes {
  readonly clusterStack: string;
  readonly clusterAddonDir: string;
  readonly clusterAddonValues: string;
  readonly nodeImageDir?: string;
}

/** A built release: its name, which is its tag, and its files. */
export interface BuiltRelease {
  readonly name: string;
  readonly versions: ReleaseVersions;
  readonly kubernetes: string;
  readonly hashes: ReleaseHashes;
  readonly files: Files;
}

/** The hashes of a tree. */
export function hashesOf({ files }: SourceTree): ReleaseHashes {
  const addon = filesIn(files, 'cluster-addon');
  const values = files.get('cluster-addon-values.yaml');
  const nodeImage = filesIn(files, 'node-image');
  return {
    clusterStack: treeHash(files),
    clusterAddonDir: addon.size === 0 ? '' : treeHash(addon),
    clusterAddonValues: values === undefined ? '' : fileHash(values),
    ...(nodeImage.size > 0 && { nodeImageDir: treeHash(nodeImage) }),
  };
}

/** A chart as `helm package` would pack it: its files in a folder of its name. */
function packChart(files: Files, chart: { readonly name: string; readonly version: string }): Buffer {
  const named = withChartName(withoutIgnored(files), chart);
  return packArchive(new Map([...named].map(([path, bytes]) => [`${chart.name}/${path}`, bytes])), 'files-only');
}

/**
 * The release that a tree makes with these versions: the same tree and versions make the same bytes.
 * @throws StackError when the tree lacks what a release needs; BadReleaseError when clusteraddon.yaml is none.
 */
export function buildRelease(source: SourceTree, versions: ReleaseVersions): BuiltRelease {
  const hashes = hashesOf(source);
  const files = withVersions(source.files, versions);
  const clusterClass = filesIn(files, 'cluster-class');
  if (!clusterClass.has('Chart.yaml')) {
    throw new StackError('there is no cluster-class/Chart.yaml: a release needs the chart of a ClusterClass');
  }
  const release = new Map<string, Buffer>();
  const chart = { name: `${source.prefix}-cluster-class`, version: versions.clusterStack };
  release.set(`${chart.name}-${chart.version}.tgz`, packChart(clusterClass, chart));
  for (const [name, bytes] of addonFiles(source, files, versions)) release.set(name, bytes);
  release.set('hashes.json', Buffer.from(JSON.stringify(hashes, null, 2)));
  release.set('metadata.yaml', Buffer.from(metadata(source, versions)));
  return {
    name: `${source.prefix}-${dashedVersion(versions.clusterStack)}`,
    versions,
    kubernetes: source.kubernetes,
    hashes,
    files: new Map([...release].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function addonFiles(
  source: SourceTree,
  files: Files,
  { clusterAddon }: ReleaseVersions,
): readonly (readonly [string, Buffer])[] {
  const addon = filesIn(files, 'cluster-addon');
  const name = `${source.prefix}-cluster-addon`;
  const archive = `${name}-${clusterAddon}.tgz`;
  const values = files.get('cluster-addon-values.yaml');
  switch (source.addons) {
    case 'none':
      return [];
    case 'stages': {
      const config = files.get('clusteraddon.yaml') ?? Buffer.alloc(0);
      parseClusterAddonConfig(config.toString('utf8'));
      // With folders: upstream's operator makes those that it finds in the archive.
      return [
        [archive, packArchive(addon, 'with-folders')],
        ['clusteraddon.yaml', config],
      ];
    }
    case 'single-chart':
      return [
        [archive, packChart(addon, { name, version: clusterAddon })],
        ...(values === undefined ? [] : [['cluster-addon-values.yaml', values] as const]),
      ];
  }
}

/** Upstream's operator refuses a release without any of the four versions. */
const metadata = ({ kubernetes }: SourceTree, versions: ReleaseVersions): string =>
  [
    'apiVersion: metadata.clusterstack.x-k8s.io/v1alpha1',
    'versions:',
    `  clusterStack: ${versions.clusterStack}`,
    `  kubernetes: ${kubernetes}`,
    '  components:',
    `    clusterAddon: ${versions.clusterAddon}`,
    `    nodeImage: ${versions.nodeImage}`,
    '',
  ].join('\n');
