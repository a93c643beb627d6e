import { describe, expect, test } from '@jest/globals';
import { globalRights, missingRights } from './grants.ts';
import { isSupportedMysql, parseMysqlVersion } from './version.ts';

describe('parseMysqlVersion', () => {
  test.each([
    ['10.11.19-MariaDB-0+deb12u1', 'Debian 12', 'MariaDB', '10.11.19', true],
    ['11.4.2', 'MariaDB Server', 'MariaDB', '11.4.2', true],
    ['10.6.20-MariaDB-log', '', 'MariaDB', '10.6.20', false],
    ['8.4.3', 'MySQL Community Server - GPL', 'MySQL', '8.4.3', true],
    ['8.0.36-28', 'Percona Server (GPL)', 'MySQL', '8.0.36', true],
    ['5.7.44', 'MySQL Community Server (GPL)', 'MySQL', '5.7.44', false],
    ['8.0.11-TiDB-v7.5.0', 'TiDB Server', 'TiDB', '8.0.11', false],
    ['unknown', '', 'MySQL', 'unknown', false],
  ])('parses %s (%s) as %s %s', (...[version, comment, flavor, number, supported]) => {
    const parsed = parseMysqlVersion(version, comment);
    expect(parsed).toEqual({ flavor, number });
    expect(isSupportedMysql(parsed)).toBe(supported);
  });
});

const mysqlRoot = [
  'GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, PROCESS, ALTER, LOCK TABLES, CREATE USER, EVENT, TRIGGER ON *.* TO `root`@`%` WITH GRANT OPTION',
  'GRANT BACKUP_ADMIN,CONNECTION_ADMIN ON *.* TO `root`@`%` WITH GRANT OPTION',
];

describe('missingRights', () => {
  test('returns nothing for administrators, in the notation of MariaDB and of MySQL', () => {
    const mariadb = "GRANT ALL PRIVILEGES ON *.* TO `root`@`%` IDENTIFIED BY PASSWORD '*0' WITH GRANT OPTION";
    expect(missingRights([mariadb])).toEqual([]);
    expect(missingRights(mysqlRoot)).toEqual([]);
    expect(missingRights([mysqlRoot[0] ?? '', 'GRANT SUPER ON *.* TO `root`@`%`'])).toEqual([]);
  });

  test('names each missing permission and its purpose, and does not accept a grant on one database as a global one', () => {
    const lines = ['GRANT SELECT ON *.* TO `a`@`%`', 'GRANT ALL PRIVILEGES ON `db`.* TO `a`@`%` WITH GRANT OPTION'];
    const missing = missingRights(lines).join();
    expect(missing).toContain('CREATE USER (create accounts)');
    expect(missing).toContain('GRANT OPTION');
    expect(missing).toContain('CONNECTION ADMIN');
    expect(missing).not.toContain('SELECT');
  });

  test('requires GRANT OPTION besides all privileges', () => {
    expect(missingRights(['GRANT ALL PRIVILEGES ON *.* TO `a`@`%`']).join()).toContain('GRANT OPTION');
  });

  test('finds GRANT OPTION after limits', () => {
    const line = 'GRANT USAGE ON *.* TO `a`@`%` REQUIRE SSL WITH GRANT OPTION MAX_USER_CONNECTIONS 3';
    expect(globalRights([line]).has('GRANT OPTION')).toBe(true);
  });
});
