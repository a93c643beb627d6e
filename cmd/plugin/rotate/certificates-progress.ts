import { annotations } from '../../../api/names.ts';
import type { Resource } from '../../../api/meta.ts';

/** The Secrets whose rotation was requested and has not happened yet, by name. */
export function stillToRotate(secrets: readonly Resource[]): readonly string[] {
  return secrets
    .filter(({ metadata }) => metadata.annotations?.[annotations.rotate] === '')
    .map(({ metadata }) => metadata.name);
}
