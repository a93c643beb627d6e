import { ensurePackages } from './debian-packages.ts';
import { baseEntries, fileEntry, rootedImage } from './image-contents.ts';
import { imageArchive } from './images.ts';
import type { ImageArchive } from './images.ts';
import type { ImageDescription } from './oci-archive.ts';
import { resolveTools } from './resolve.ts';
import type { Progress } from './resolve.ts';
import type { TarEntry } from './tar-writer.ts';
import { toolPin } from './pins.ts';
import { toolEnvironment } from './tool-environment.ts';

const busybox = '/bin/busybox';
/** What the script of the chart calls beside kubectl. */
const applets = ['sh', 'cat', 'mv', 'sed', 'sleep', 'touch'] as const;

/** A shell and kubectl: what writes the CNI configuration of a node by its pod range. Two tags of one program, so that there is a newer one. */
function bridgeCni(kubectl: string, architecture: ImageDescription['architecture']): ImageDescription {
  const image = (tag: string): string => `e2e.steward.butlerlabs.dev/bridge-cni:${tag}`;
  return {
    names: [image('v1'), image('v2')],
    architecture,
    command: ['sh'],
    environment: { PATH: '/usr/local/bin:/bin' },
    layers: [
      [
        ...baseEntries,
        fileEntry(busybox),
        ...applets.map((name): TarEntry => ({ kind: 'symlink', path: `bin/${name}`, target: busybox })),
        fileEntry(kubectl, '/usr/local/bin/kubectl'),
      ],
    ],
  };
}

/**
 * OCI archives of what the add-ons of `e2e/fixtures/stacks` run, cached: the metrics-server of its Go module, under the published
 * name, and the CNI's writer. Not among the images of every machine. Installs a package. Linux only.
 */
export const stackImageArchives = async (progress: Progress = () => undefined): Promise<readonly ImageArchive[]> => {
  const { platform, cacheFolder } = toolEnvironment();
  await ensurePackages(['busybox-static'], progress);
  const tools = await resolveTools(['kubectl', 'metrics-server'], { progress });
  const { version } = toolPin('metrics-server').source;
  const images = [
    bridgeCni(tools.kubectl, platform.arch),
    rootedImage([`registry.k8s.io/metrics-server/metrics-server:${version}`], platform.arch, {
      path: '/metrics-server',
      source: tools['metrics-server'],
      user: '65534',
    }),
  ];
  const archives: ImageArchive[] = [];
  for (const image of images) archives.push(await imageArchive(image, cacheFolder, progress));
  return archives;
};
