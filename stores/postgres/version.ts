/** The required version of a PostgreSQL that several tenants share, for messages. */
export const postgresFloor = '15.18, 16.14, 17.10, 18.4 or newer';

/** The first minor version of each major one that keeps tenants apart. */
const floors: ReadonlyMap<number, number> = new Map([
  [15, 18],
  [16, 14],
  [17, 10],
  [18, 4],
]);

/**
 * True for versions that keep tenants apart: below them any login may run code as the server's own user (CVE-2026-6473,
 * https://www.postgresql.org/about/news/postgresql-184-1710-1614-1518-and-1423-released-3297/). Version 14 is past its end of life
 * (https://www.postgresql.org/support/versioning/) and lets every login create tables in the schema `public`. A text that is
 * no release is not supported.
 */
export function isSupportedPostgres(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return false;
  const floor = floors.get(Number(major));
  return floor === undefined ? Number(major) > Math.max(...floors.keys()) : Number(minor) >= floor;
}
