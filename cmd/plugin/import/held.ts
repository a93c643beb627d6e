import type { ObjectMeta } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';

/** Value of the paused annotation while an import holds a control plane. Any other value is somebody else's. */
export const heldByImport = 'kubectl-steward-import';

interface Paused {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
}

/** True while an import holds the control plane. */
export function isHeld({ metadata }: Paused): boolean {
  return metadata.annotations?.[annotations.paused] === heldByImport;
}

/** True if somebody else has paused the control plane. */
export function isPausedByOther({ metadata }: Paused): boolean {
  const value = metadata.annotations?.[annotations.paused];
  return value !== undefined && value !== heldByImport;
}
