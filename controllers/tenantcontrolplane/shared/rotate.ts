import type { Secret } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';

/** True when the annotation, present and empty, requests new content. */
export function rotationRequested(secret: Secret | undefined): boolean {
  return secret?.metadata.annotations?.[annotations.rotate] === '';
}

/** The rotation time to store in the Secret: `now` after a requested rotation, otherwise that of the last one. */
export function rotationTime(secret: Secret | undefined, now: Date): string | undefined {
  if (rotationRequested(secret)) return now.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return secret?.metadata.annotations?.[annotations.rotate];
}

/** True when the Secret's rotation time is at or after `since`. */
export function rotatedSince(secret: Secret, since: string): boolean {
  const at = Date.parse(secret.metadata.annotations?.[annotations.rotate] ?? '');
  return at >= Date.parse(since);
}
