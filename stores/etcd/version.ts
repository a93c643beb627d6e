import { gte, parse } from 'semver';

/** The required version of an etcd that several tenants share, for messages. */
export const etcdFloor = '3.6.14 or, from 3.7 on, 3.7.1';

/**
 * True for versions that keep tenants apart: below them a tenant can watch the keys of others (CVE-2026-73499).
 * Pre-releases of a fixed version do not count as fixed; a text that is no version is not supported.
 */
export function isSupportedEtcd(version: string): boolean {
  const parsed = parse(version);
  if (parsed === null) return false;
  if (parsed.major === 3 && parsed.minor < 7) return gte(parsed, '3.6.14');
  return gte(parsed, '3.7.1');
}
