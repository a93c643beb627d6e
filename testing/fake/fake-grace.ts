import type { KindRef } from '../../api/meta.ts';
import { copyOf, isFields, type StoredObject } from './stored-object.ts';

/** The default grace period of a pod. */
const usualGraceSeconds = 30;

/** How many seconds an object stays after its deletion: only pods that run on a node have any. */
function graceOf(kind: KindRef, { spec, status }: StoredObject, asked: number | undefined): number {
  const pod = isFields(spec) ? spec : {};
  const phase = isFields(status) ? status.phase : undefined;
  const runs = typeof pod.nodeName === 'string' && phase !== 'Succeeded' && phase !== 'Failed';
  if (kind.group !== '' || kind.kind !== 'Pod' || !runs) return 0;
  const own = pod.terminationGracePeriodSeconds;
  return asked ?? (typeof own === 'number' ? own : usualGraceSeconds);
}

/**
 * A terminating pod, as it stays until its grace period is over; the same object if it was terminating before and its
 * period is not shortened. Undefined for objects that are gone at once.
 */
export function terminating(
  kind: KindRef,
  pod: StoredObject,
  asked: number | undefined,
  now: number,
): StoredObject | undefined {
  const grace = graceOf(kind, pod, asked);
  if (grace === 0) return undefined;
  const { deletionTimestamp, deletionGracePeriodSeconds: before = Infinity } = pod.metadata;
  if (before <= grace) return pod;
  const terminatedAt = deletionTimestamp === undefined ? now : Date.parse(deletionTimestamp) - before * 1000;
  const next = copyOf(pod);
  next.metadata.deletionTimestamp = stampOf(terminatedAt + grace * 1000);
  next.metadata.deletionGracePeriodSeconds = grace;
  return next;
}

/** Whether an object is terminating with a grace period. */
export function hasGrace({ metadata }: StoredObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}

/** Whether a pod's time to stop is over: its kubelet ends it. */
export function isTimeOver(kind: KindRef, pod: StoredObject, now: number): boolean {
  const { deletionTimestamp = '', finalizers = [] } = pod.metadata;
  return kind.kind === 'Pod' && hasGrace(pod) && finalizers.length === 0 && Date.parse(deletionTimestamp) <= now;
}

/** A moment as the API server writes it. */
export function stampOf(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
