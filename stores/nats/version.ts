import { gte, parse } from 'semver';

/** The required version of a NATS server, for messages. */
export const natsFloor = '2.12.12 or, from 2.14 on, 2.14.3';

/**
 * True for versions that keep accounts and their permissions apart. Below 2.11.1 an account could manage the streams of others
 * (CVE-2025-30215), below 2.12.6 restore over them (CVE-2026-33222) and go around publish permissions (CVE-2026-33249), below
 * 2.12.7 subscribe around denials (advisory 2026-18); the last advisories are fixed in 2.12.12 and 2.14.3
 * (https://advisories.nats.io, 2026-06-29). Pre-releases of a fixed version do not count as fixed; a text that is no version
 * is not supported.
 */
export function isSupportedNats(version: string): boolean {
  const parsed = parse(version);
  if (parsed === null) return false;
  if (parsed.major === 2 && parsed.minor < 14) return parsed.minor === 12 && gte(parsed, '2.12.12');
  return gte(parsed, '2.14.3');
}
