import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { libraryFiles } from './library-files.ts';
import type { ImageDescription } from './oci-archive.ts';
import type { TarEntry } from './tar-writer.ts';

/** Debian packages of what kube-proxy needs beside it. */
export const kubeProxyPackages = ['iptables', 'nftables', 'conntrack', 'netbase'] as const;

/**
 * The published image has it too. Without it nft lists a protocol by its number: kube-proxy, which lists its maps at a start and once
 * an hour, then takes its own elements for somebody else's and deletes them, and no Service answers anymore. No call fails.
 */
const protocolNames: TarEntry = { kind: 'file', source: '/etc/protocols', path: '/etc/protocols', mode: 0o644 };

const sbin = '/usr/sbin';
const xtables = 'xtables-nft-multi';
const xtablesNames = ['iptables', 'ip6tables'].flatMap((name) => [
  name,
  `${name}-save`,
  `${name}-restore`,
  `${name}-nft`,
  `${name}-nft-save`,
  `${name}-nft-restore`,
]);

/** What every image has, so that programs find their user, their host names and a place for temporary files. */
export const baseEntries: readonly TarEntry[] = [
  {
    kind: 'text',
    path: 'etc/passwd',
    text: 'root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
  },
  { kind: 'text', path: 'etc/group', text: 'root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n' },
  { kind: 'text', path: 'etc/nsswitch.conf', text: 'hosts: files dns\n' },
  { kind: 'folder', path: 'tmp', mode: 0o1777 },
  { kind: 'folder', path: 'run', mode: 0o755 },
  { kind: 'folder', path: 'usr/local/bin' },
  { kind: 'symlink', path: 'var/run', target: '/run' },
];

/** A file of this machine at `path` of the image, at its own path unless said. */
export const fileEntry = (source: string, path: string = source): TarEntry => ({
  kind: 'file',
  source,
  path,
  mode: 0o755,
});

/** All files below a folder of this machine, at the same places below `into`; only those that `wanted` takes, by their own path. */
export const filesBelow = async (
  folder: string,
  into: string = folder,
  wanted: (path: string) => boolean = () => true,
): Promise<readonly TarEntry[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(wanted)
    .map((source) => fileEntry(source, `${into}${source.slice(folder.length)}`));
};

/** A static program in /usr/local/bin, found by name; its image starts it. */
export const programImage = (
  names: ImageDescription['names'],
  architecture: ImageDescription['architecture'],
  programs: Readonly<Record<string, string>>,
): ImageDescription => {
  const [first = ''] = Object.keys(programs);
  return {
    names,
    architecture,
    entrypoint: [`/usr/local/bin/${first}`],
    layers: [
      [
        ...baseEntries,
        ...Object.entries(programs).map(([name, source]) => fileEntry(source, `/usr/local/bin/${name}`)),
      ],
    ],
  };
};

/** A static program at a path that its users name in full, such as /coredns. */
export const rootedImage = (
  names: ImageDescription['names'],
  architecture: ImageDescription['architecture'],
  {
    path,
    source,
    command,
    user,
  }: { readonly path: string; readonly source: string; readonly command?: readonly string[]; readonly user?: string },
): ImageDescription => ({
  names,
  architecture,
  entrypoint: [path],
  command,
  user,
  layers: [[...baseEntries, fileEntry(source, path)]],
});

const xtablesFolder = async (): Promise<string> => {
  for (const triplet of ['x86_64-linux-gnu', 'aarch64-linux-gnu']) {
    const folder = join('/usr/lib', triplet, 'xtables');
    // An absent folder means the other architecture.
    if ((await readdir(folder).catch(() => [])).length > 0) return folder;
  }
  throw new Error('The xtables extensions of iptables are missing: apt-get install iptables');
};

/** kube-proxy with nft, the nft flavor of iptables, conntrack and all that these load and read. */
export const kubeProxyImage = async (
  names: ImageDescription['names'],
  architecture: ImageDescription['architecture'],
  kubeProxy: string,
): Promise<ImageDescription> => {
  const folder = await xtablesFolder();
  const extensions = (await readdir(folder)).filter((file) => file.endsWith('.so')).map((file) => join(folder, file));
  const programs = ['nft', xtables, 'conntrack'].map((name) => join(sbin, name));
  const image = programImage(names, architecture, { 'kube-proxy': kubeProxy });
  const entries: readonly TarEntry[] = [
    ...programs.map((path) => fileEntry(path)),
    ...xtablesNames.map((name): TarEntry => ({ kind: 'symlink', path: join(sbin, name), target: xtables })),
    // The extensions need libxtables and libm only; both come with xtables-nft-multi and nft or are named here.
    ...(await libraryFiles(...programs, ...extensions.filter((path) => basename(path) === 'libxt_statistic.so'))).map(
      (path) => fileEntry(path),
    ),
    ...extensions.map((path) => fileEntry(path)),
    protocolNames,
  ];
  return { ...image, layers: [...image.layers, entries] };
};
