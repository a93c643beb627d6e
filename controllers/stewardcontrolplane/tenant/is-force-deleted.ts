import { deleteForMoveAnnotation } from '../../../api/cluster-api/names.ts';
import type { Resource } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';

/** True for an object that clusterctl has moved to another cluster. */
export function isMoved({ metadata }: Pick<Resource, 'metadata'>): boolean {
  return metadata.annotations?.[deleteForMoveAnnotation] !== undefined;
}

/** True for an object whose deletion is meant: clusterctl has moved it, or a person says so. */
export function isForceDeleted(object: Pick<Resource, 'metadata'>): boolean {
  return isMoved(object) || object.metadata.annotations?.[annotations.deleteAnyway] === 'true';
}
