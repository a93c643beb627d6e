import { clusterStackUpgrade } from './cluster-stack-upgrade.ts';
import { clusterStack } from './cluster-stack.ts';
import { conditions } from './conditions.ts';
import { controlPlane } from './control-plane.ts';
import { drawPicture } from './draw-picture.ts';
import { konnectivity } from './konnectivity.ts';
import { overview } from './overview.ts';
import { reconcile } from './reconcile.ts';
import { worker } from './worker.ts';

/** Every picture of the documentation. */
export const allPictures = [
  overview,
  controlPlane,
  konnectivity,
  worker,
  reconcile,
  conditions,
  clusterStack,
  clusterStackUpgrade,
];

/** Folder of the drawn pictures. */
export const pictureFolder = 'docs/pictures';

/** The drawn pictures, by their path in this repository. */
export function pictureFiles(): ReadonlyMap<string, string> {
  return new Map(allPictures.map((picture) => [`${pictureFolder}/${picture.name}.svg`, drawPicture(picture)]));
}
