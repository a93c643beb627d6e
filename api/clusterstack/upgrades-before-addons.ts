import type { Resource } from '../meta.ts';
import { annotations } from '../names.ts';

/** Whether somebody wants this version of the object, `vX.Y.Z`, before its add-ons are complete: its annotation names it, with or without `v`. */
export function upgradesBeforeAddons({ metadata }: Resource, version: string): boolean {
  const given = metadata.annotations?.[annotations.upgradeBeforeAddons]?.trim() ?? '';
  return given !== '' && withV(given) === withV(version);
}

function withV(version: string): string {
  return version.replace(/^v?/, 'v');
}
