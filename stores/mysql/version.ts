import { coerce, gte } from 'semver';

/** What a server reports about itself. */
export interface MysqlVersion {
  readonly flavor: 'MariaDB' | 'MySQL' | 'TiDB';
  /** `10.11.19`. */
  readonly number: string;
}

/**
 * The required version, for messages. Both persist AUTO_INCREMENT across a restart (MySQL since 8.0, MariaDB since 10.2.4): before
 * that, a revision could be assigned twice. Both create and drop tables and accounts atomically, also in a crash. Both are
 * among the versions that kine is tested with (kine 0.16: MySQL 8.0 and 8.4, MariaDB 10.6, 10.11 and 11.4); MariaDB 10.6 is
 * no longer maintained.
 */
export const mysqlFloor = 'MariaDB 10.11 or MySQL 8.0';

/** Parses `VERSION()` and `@@version_comment`; MariaDB and TiDB have their name in one of them. */
export function parseMysqlVersion(version: string, comment: string): MysqlVersion {
  const both = `${version} ${comment}`;
  const flavor = /mariadb/i.test(both) ? 'MariaDB' : /tidb/i.test(both) ? 'TiDB' : 'MySQL';
  return { flavor, number: coerce(version)?.version ?? version };
}

/** True for the required version and above. TiDB assigns a separate range of ids to each server, so they do not grow with time. */
export function isSupportedMysql({ flavor, number }: MysqlVersion): boolean {
  const parsed = coerce(number);
  if (parsed === null || flavor === 'TiDB') return false;
  return gte(parsed, flavor === 'MariaDB' ? '10.11.0' : '8.0.0');
}
