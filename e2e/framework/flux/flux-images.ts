import { rootedImage } from '../../tools/image-contents.ts';
import { imageArchive } from '../../tools/images.ts';
import type { ImageArchive } from '../../tools/images.ts';
import { toolPin } from '../../tools/pins.ts';
import { resolveTools } from '../../tools/resolve.ts';
import type { Progress } from '../../tools/resolve.ts';
import { toolEnvironment } from '../../tools/tool-environment.ts';

/** Flux's controllers that apply what is in git. */
export const fluxControllers = ['source-controller', 'kustomize-controller'] as const;

/** The name of a controller's image. */
function fluxImage(name: (typeof fluxControllers)[number]): string {
  return `docker.io/fluxcd/${name}:${toolPin(name).source.version}`;
}

/** OCI archives of the images of Flux's pinned controllers; cached. Builds the controllers if they are not there, which takes long. */
export async function fluxArchives(progress: Progress): Promise<readonly ImageArchive[]> {
  const { platform, cacheFolder } = toolEnvironment();
  const tools = await resolveTools(fluxControllers, { progress });
  const archives: ImageArchive[] = [];
  for (const name of fluxControllers) {
    const program = { path: `/usr/local/bin/${name}`, source: tools[name], user: '65534:65534' };
    const image = rootedImage([fluxImage(name)], platform.arch, program);
    archives.push(await imageArchive(image, cacheFolder, progress));
  }
  return archives;
}
