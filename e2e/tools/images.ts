import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensurePackages } from './debian-packages.ts';
import { withFileLock } from './file-lock.ts';
import { kubeProxyImage, kubeProxyPackages, programImage, rootedImage } from './image-contents.ts';
import { kubernetesReleases, resolveKubernetes } from './kubernetes-releases.ts';
import { layerEntries, writeImageArchive } from './oci-archive.ts';
import type { ImageDescription } from './oci-archive.ts';
import { toolPin } from './pins.ts';
import { resolveTools } from './resolve.ts';
import type { Progress } from './resolve.ts';
import { toolEnvironment } from './tool-environment.ts';
import type { ToolEnvironment } from './tool-environment.ts';

const run = promisify(execFile);

/** One archive to import. */
export interface ImageArchive {
  /** Its first name with tag. */
  readonly name: string;
  /** All names that it is imported under. */
  readonly names: readonly string[];
  /** Absolute path of the OCI archive. */
  readonly path: string;
}

/** The binaries inside the images of one Kubernetes version. */
const imageTools = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'kubeadm',
  'etcd',
  'etcdctl',
  'coredns',
  'kine',
  'proxy-agent',
  'proxy-server',
  'pause',
  'agnhost',
  'capi-core-manager',
  'capi-kubeadm-bootstrap-manager',
] as const;

type ImageTools = Readonly<Record<(typeof imageTools)[number], string>>;

/** The name and tag that this kubeadm wants for one image, by the last part of the image's path. */
export const kubeadmImageName = (list: string, component: string): string => {
  const found = list.split('\n').find((line) =>
    line
      .trim()
      .replace(/:[^:/]*$/, '')
      .endsWith(`/${component}`),
  );
  if (found === undefined)
    throw new Error(`kubeadm names no image of ${component}; it names ${list.trim().replaceAll('\n', ', ')}`);
  return found.trim();
};

const bare = (tool: string): string => toolPin(tool).source.version.slice(1);

const clusterApiImage = (name: string): string =>
  `registry.k8s.io/cluster-api/${name}:${toolPin('clusterctl').source.version}`;

const distinct = (first: string, ...more: readonly string[]): ImageDescription['names'] => [
  first,
  ...new Set(more.filter((name) => name !== first)),
];

/** The one pinned version, also under the tags that go with every pinned minor of Kubernetes. */
const konnectivityImage = (name: 'proxy-agent' | 'proxy-server', source: string, architecture: 'amd64' | 'arm64') => {
  const tagged = (tag: string): string => `registry.k8s.io/kas-network-proxy/${name}:${tag}`;
  const tags = kubernetesReleases.map(({ minor }) => `v0.${minor.replace(/^1\./, '')}.0`);
  const names = distinct(tagged(toolPin(name).source.version), ...tags.map(tagged));
  return rootedImage(names, architecture, { path: `/${name}`, source, user: '65532:65532' });
};

/** Descriptions of all images of one Kubernetes version; `list` is what its `kubeadm config images list` printed. */
const describeImages = async (
  tools: ImageTools,
  list: string,
  kubernetes: string,
  architecture: 'amd64' | 'arm64',
): Promise<readonly ImageDescription[]> => {
  const wanted = (component: string): string => kubeadmImageName(list, component);
  const controlPlane = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
  const manager = (image: string, source: string): ImageDescription =>
    rootedImage([clusterApiImage(image)], architecture, { path: '/manager', source, user: '65532:65532' });
  const agnhost = `registry.k8s.io/e2e-test-images/agnhost:${resolveKubernetes(kubernetes).agnhostVersion}`;
  const kine = programImage([`docker.io/rancher/kine:v${bare('kine')}`], architecture, { kine: tools.kine });
  return [
    ...controlPlane.map((name) => programImage([wanted(name)], architecture, { [name]: tools[name] })),
    await kubeProxyImage([wanted('kube-proxy')], architecture, tools['kube-proxy']),
    rootedImage(distinct(wanted('coredns'), `registry.k8s.io/coredns/coredns:v${bare('coredns')}`), architecture, {
      path: '/coredns',
      source: tools.coredns,
    }),
    programImage(distinct(wanted('etcd'), `registry.k8s.io/etcd:${bare('etcd')}-0`), architecture, {
      etcd: tools.etcd,
      etcdctl: tools.etcdctl,
    }),
    konnectivityImage('proxy-server', tools['proxy-server'], architecture),
    konnectivityImage('proxy-agent', tools['proxy-agent'], architecture),
    rootedImage([wanted('pause')], architecture, { path: '/pause', source: tools.pause, user: '65535:65535' }),
    // Its users call it by the path that it has in the published image.
    { ...kine, layers: [...kine.layers, [{ kind: 'symlink', path: 'bin/kine', target: '/usr/local/bin/kine' }]] },
    rootedImage([agnhost], architecture, { path: '/agnhost', source: tools.agnhost, command: ['pause'] }),
    manager('cluster-api-controller', tools['capi-core-manager']),
    manager('kubeadm-bootstrap-controller', tools['capi-kubeadm-bootstrap-manager']),
  ];
};

/** Changes whenever the archive would: the description, and size and time of each file in it. */
const fingerprint = async (image: ImageDescription): Promise<string> => {
  const hash = createHash('sha256').update(JSON.stringify(image));
  for (const entry of image.layers.flatMap(layerEntries)) {
    if (entry.kind !== 'file') continue;
    const { size, mtimeMs } = await stat(entry.source);
    hash.update(`${entry.source} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
};

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    // Absent is the ordinary answer; anything else shows when the archive is written.
    () => false,
  );

/** The cached archive of an image, written now if it is not there; equal content is written once. */
export const imageArchive = async (
  image: ImageDescription,
  cacheFolder: string,
  tell: Progress,
): Promise<ImageArchive> => {
  const [name] = image.names;
  const folder = join(cacheFolder, 'images', name.replaceAll(/[/:]/g, '_'));
  const path = join(folder, `${await fingerprint(image)}.tar`);
  await withFileLock(`${folder}.lock`, async () => {
    if (await exists(path)) return;
    await mkdir(folder, { recursive: true });
    const temporary = join(folder, `${randomUUID()}.part`);
    try {
      await writeImageArchive(image, temporary);
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    tell(`wrote the image ${name} (${Math.round((await stat(path)).size / 1024 / 1024)} MiB)`);
  });
  return { name, names: image.names, path };
};

/**
 * OCI archives of all images that a cluster of this Kubernetes version needs: what its kubeadm lists, under exactly those names
 * (etcd and CoreDNS also under their real versions), kine, konnectivity, agnhost, and the managers of Cluster API. Made from the resolved
 * binaries and cached. Installs the Debian packages whose programs go into kube-proxy's image. Linux only.
 */
export const imageArchives = async (
  options: { readonly kubernetes?: string; readonly progress?: Progress; readonly environment?: ToolEnvironment } = {},
): Promise<readonly ImageArchive[]> => {
  const { progress = () => undefined, environment = toolEnvironment() } = options;
  const { version } = resolveKubernetes(options.kubernetes ?? toolPin('kubeadm').source.version);
  const tools = await resolveTools(imageTools, { kubernetes: version, progress });
  await ensurePackages(kubeProxyPackages, progress);
  const { stdout } = await run(tools.kubeadm, ['config', 'images', 'list', '--kubernetes-version', version]);
  const archives: ImageArchive[] = [];
  for (const image of await describeImages(tools, stdout, version, environment.platform.arch)) {
    archives.push(await imageArchive(image, environment.cacheFolder, progress));
  }
  return archives;
};
