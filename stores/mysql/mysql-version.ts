import { coerce, gte } from 'semver';

/** What a server says of itself. */
export interface MysqlVersion {
  readonly flavour: 'MariaDB' | 'MySQL' | 'TiDB';
  /** `10.11.19`. */
  readonly number: string;
}

/**
 * What is asked of a server, in words. Both keep AUTO_INCREMENT across a restart (MySQL from 8.0, MariaDB from 10.2.4): below
 * that a revision could be given twice. Both make and drop tables and accounts as one step that a crash cannot split. Both are
 * among the versions that kine is tested with (kine 0.16: MySQL 8.0 and 8.4, MariaDB 10.6, 10.11 and 11.4); MariaDB 10.6 is
 * no longer maintained.
 */
export const mysqlFloor = 'MariaDB 10.11 or MySQL 8.0';

/** Reads `VERSION()` and `@@version_comment`; MariaDB and its like call themselves by name in one of them. */
export function parseMysqlVersion(version: string, comment: string): MysqlVersion {
  const both = `${version} ${comment}`;
  const flavour = /mariadb/i.test(both) ? 'MariaDB' : /tidb/i.test(both) ? 'TiDB' : 'MySQL';
  return { flavour, number: coerce(version)?.version ?? version };
}

/** True at the floor and above. TiDB gives each of its servers a range of ids of its own: they do not grow with time. */
export function isSupportedMysql({ flavour, number }: MysqlVersion): boolean {
  const parsed = coerce(number);
  if (parsed === null || flavour === 'TiDB') return false;
  return gte(parsed, flavour === 'MariaDB' ? '10.11.0' : '8.0.0');
}
