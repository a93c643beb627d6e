import { annotations } from '../../../names.ts';
import type { TenantControlPlane } from '../tenant-control-plane.ts';

/** What the last restore has written on a control plane together with its end: both took effect, or neither. */
export interface RestoreMark {
  /** Identifies the task; empty for a command. */
  readonly task: string;
  /** The moment of the last change that was restored. */
  readonly upTo: string;
  /** UID of the TenantControlPlane that got CAs, keys and data; absent where it had CAs and keys before. */
  readonly identityOf?: string;
}

/** The value of the annotation. */
export const restoreMark = ({ task, upTo, identityOf = '' }: RestoreMark): string =>
  `${upTo} ${task} ${identityOf}`.trim();

/** As the API server accepts it in a status. */
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * The mark of the last restore that has woken this control plane up, or given it its identity. Whoever may write the object may write the
 * annotation: what is no moment is no mark.
 */
export function restoreMarkOf({ metadata }: Pick<TenantControlPlane, 'metadata'>): RestoreMark | undefined {
  const [upTo = '', task = '', identityOf] = metadata.annotations?.[annotations.restored]?.split(' ') ?? [];
  if (!moment.test(upTo) || Number.isNaN(Date.parse(upTo))) return undefined;
  return { task, upTo, ...(identityOf !== undefined && { identityOf }) };
}

/**
 * The mark of the restore that has given this very TenantControlPlane its identity. One that was moved to another management cluster
 * with its annotations has another UID there, and no data.
 */
export function identityMarkOf(tcp: Pick<TenantControlPlane, 'metadata'>): RestoreMark | undefined {
  const mark = restoreMarkOf(tcp);
  return mark?.identityOf === tcp.metadata.uid ? mark : undefined;
}

/**
 * Name of the TenantRestore from which a control plane gets its CAs, keys and data: until it is complete, nothing may be generated for
 * it and nothing of it may run. Undefined for one that is complete, and for any other control plane.
 */
export function awaitedRestore(tcp: Pick<TenantControlPlane, 'metadata'>): string | undefined {
  const { [annotations.awaitsRestore]: awaited = '' } = tcp.metadata.annotations ?? {};
  return awaited === '' || identityMarkOf(tcp) !== undefined ? undefined : awaited;
}
