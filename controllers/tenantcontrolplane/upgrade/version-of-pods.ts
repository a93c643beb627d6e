import type { Deployment } from '../../../api/core/kinds.ts';
import { containers } from '../../../api/names.ts';

/** A tag may have a suffix set by the author. */
const tagged = /:(v\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)\.\d+)?)[^/]*$/;

/** The version of kube-apiserver in a Deployment; undefined when its image does not show it. */
export function versionOfPods(deployment: Deployment | undefined): string | undefined {
  const pod = deployment?.spec?.template.spec;
  const image = pod?.containers.find(({ name }) => name === containers.apiServer)?.image;
  return tagged.exec(image ?? '')?.[1];
}
