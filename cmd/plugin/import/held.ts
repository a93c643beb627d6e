import type { ObjectMeta } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';

/** Value of the paused annotation while an import holds a control plane. Any other value was set by a user or another program. */
export const heldByImport = 'kubectl-steward-import';

interface Paused {
  readonly metadata: Pick<ObjectMeta, 'annotations'>;
}

/** True while an import holds the control plane. */
export function isHeld({ metadata }: Paused): boolean {
  return metadata.annotations?.[annotations.paused] === heldByImport;
}

/** True if a user or another program has paused the control plane. */
export function isPausedByOther({ metadata }: Paused): boolean {
  const value = metadata.annotations?.[annotations.paused];
  return value !== undefined && value !== heldByImport;
}
