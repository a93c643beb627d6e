import { rootedImage } from './image-contents.ts';
import { imageArchive } from './images.ts';
import type { ImageArchive } from './images.ts';
import { toolPin } from './pins.ts';
import { resolveTools } from './resolve.ts';
import type { Progress } from './resolve.ts';
import { toolEnvironment } from './tool-environment.ts';

/** The name of Traefik's image. */
export const traefikImage = `docker.io/library/traefik:${toolPin('traefik').source.version}`;

/** OCI archive of that image with the pinned Traefik; cached. Not among the images of every machine: who wants it loads it. Linux only. */
export const traefikArchive = async (progress: Progress = () => undefined): Promise<ImageArchive> => {
  const { platform, cacheFolder } = toolEnvironment();
  const { traefik } = await resolveTools(['traefik'], { progress });
  const image = rootedImage([traefikImage], platform.arch, { path: '/traefik', source: traefik, user: '65532:65532' });
  return imageArchive(image, cacheFolder, progress);
};
