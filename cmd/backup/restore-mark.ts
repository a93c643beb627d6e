import { annotations } from '../../api/names.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

/** What the last restore has written on a control plane together with its wake-up: both took effect, or neither. */
export interface RestoreMark {
  /** Identifies the task; empty for a command. */
  readonly task: string;
  /** The moment of the last change that was restored. */
  readonly upTo: string;
}

/** The value of the annotation. */
export const restoreMark = ({ task, upTo }: RestoreMark): string => `${upTo} ${task}`.trim();

/** The mark of the last restore that has woken this control plane up. */
export function restoreMarkOf({ metadata }: TenantControlPlane): RestoreMark | undefined {
  const [upTo = '', task = ''] = metadata.annotations?.[annotations.restored]?.split(' ') ?? [];
  return upTo === '' ? undefined : { task, upTo };
}
