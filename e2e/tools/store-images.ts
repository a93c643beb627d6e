import { mariadbImage, mariadbPackages, postgresImage } from './database-images.ts';
import { ensurePackages } from './debian-packages.ts';
import { resolveEtcd } from './etcd-releases.ts';
import { programImage, rootedImage } from './image-contents.ts';
import { imageArchive } from './images.ts';
import type { ImageArchive } from './images.ts';
import { installPostgres } from './install-postgres.ts';
import type { ImageDescription } from './oci-archive.ts';
import { toolPin } from './pins.ts';
import { resolveTools } from './resolve.ts';
import type { Progress } from './resolve.ts';
import { toolEnvironment } from './tool-environment.ts';
import type { ToolEnvironment } from './tool-environment.ts';

interface StoreImage {
  readonly names: ImageDescription['names'];
  readonly install: (tell: Progress) => Promise<void>;
  readonly describe: (
    names: ImageDescription['names'],
    architecture: ImageDescription['architecture'],
    progress: Progress,
  ) => Promise<ImageDescription>;
}

/** The published image has the static binary at this path and nothing else. */
const natsImage: StoreImage['describe'] = async (names, architecture, progress) => {
  const tools = await resolveTools(['nats-server'], { progress });
  return rootedImage(names, architecture, { path: '/nats-server', source: tools['nats-server'] });
};

/** The images of config/datastores, by the folder that uses them; that of etcd is one of kubeadm's. */
export const storeImages = {
  postgres: {
    names: ['docker.io/library/postgres:15-bookworm'],
    install: installPostgres,
    describe: postgresImage,
  },
  mysql: {
    names: ['docker.io/library/mariadb:10.11'],
    install: (tell) => ensurePackages(mariadbPackages, tell),
    describe: mariadbImage,
  },
  nats: {
    names: [`docker.io/library/nats:${toolPin('nats-server').source.version.slice(1)}`],
    install: () => Promise.resolve(),
    describe: natsImage,
  },
} as const satisfies Readonly<Record<string, StoreImage>>;

/**
 * The OCI archive of a store's image under the public image's name, made of this machine's programs and cached. Not among the
 * images of every cluster: whoever needs the store loads it. Installs the packages. Linux only.
 */
export const storeImageArchive = async (
  store: keyof typeof storeImages,
  options: { readonly progress?: Progress; readonly environment?: ToolEnvironment } = {},
): Promise<ImageArchive> => {
  const { progress = () => undefined, environment = toolEnvironment() } = options;
  const { names, install, describe }: StoreImage = storeImages[store];
  await install(progress);
  return imageArchive(await describe(names, environment.platform.arch, progress), environment.cacheFolder, progress);
};

/** The OCI archive of another pinned release of etcd than every cluster has, such as `3.7`, with the name of its image. */
export const etcdImageArchive = async (
  release: string,
  options: { readonly progress?: Progress; readonly environment?: ToolEnvironment } = {},
): Promise<ImageArchive> => {
  const { progress = () => undefined, environment = toolEnvironment() } = options;
  const version = resolveEtcd(release).version.slice(1);
  const { etcd, etcdctl } = await resolveTools(['etcd', 'etcdctl'], { etcd: version, progress });
  const names = [`registry.k8s.io/etcd:${version}-0`] as const;
  return imageArchive(
    programImage(names, environment.platform.arch, { etcd, etcdctl }),
    environment.cacheFolder,
    progress,
  );
};
