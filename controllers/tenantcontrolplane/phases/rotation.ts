import type { Secret } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';

/** True while somebody asks for new content by the annotation, present and empty. */
export function rotationRequested(secret: Secret | undefined): boolean {
  return secret?.metadata.annotations?.[annotations.rotate] === '';
}

/** The time that the Secret carries from now on: `now` after a rotation on request, otherwise that of the last one. */
export function rotationTime(secret: Secret | undefined, now: Date): string | undefined {
  if (rotationRequested(secret)) return now.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return secret?.metadata.annotations?.[annotations.rotate];
}

/** True when the Secret carries the time of a rotation at or after `since`. */
export function rotatedSince(secret: Secret, since: string): boolean {
  const at = Date.parse(secret.metadata.annotations?.[annotations.rotate] ?? '');
  return at >= Date.parse(since);
}
