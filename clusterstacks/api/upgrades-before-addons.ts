import type { Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';

/**
 * True if the annotation requests this version, `vX.Y.Z`, before the add-ons are complete. Its leading `v` is optional.
 */
export function upgradesBeforeAddons({ metadata }: Resource, version: string): boolean {
  const given = metadata.annotations?.[annotations.upgradeBeforeAddons]?.trim() ?? '';
  return given !== '' && withV(given) === withV(version);
}

function withV(version: string): string {
  return version.replace(/^v?/, 'v');
}
