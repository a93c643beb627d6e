import { rootedImage } from './image-contents.ts';
import { imageArchive } from './images.ts';
import type { ImageArchive } from './images.ts';
import type { ImageDescription } from './oci-archive.ts';
import { resolveTools } from './resolve.ts';
import type { Progress } from './resolve.ts';
import { toolEnvironment } from './tool-environment.ts';

/** The image of Kubernetes' sample of an aggregated API server, under the name by which its tests call it. */
export const sampleApiServerImage = (
  source: string,
  architecture: ImageDescription['architecture'],
): ImageDescription =>
  rootedImage(['registry.k8s.io/e2e-test-images/sample-apiserver:1.29.2'], architecture, {
    path: '/sample-apiserver',
    source,
  });

/** OCI archive of that image; cached. Not among the images of every machine: who wants it loads it. Linux only. */
export const sampleApiServerArchive = async (progress: Progress = () => undefined): Promise<ImageArchive> => {
  const { platform, cacheFolder } = toolEnvironment();
  const tools = await resolveTools(['sample-apiserver'], { progress });
  return imageArchive(sampleApiServerImage(tools['sample-apiserver'], platform.arch), cacheFolder, progress);
};
