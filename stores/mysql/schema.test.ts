import { describe, expect, test } from '@jest/globals';
import type { MysqlConnection, ServerFacts } from './connection.ts';
import { hasSchema } from './schema.ts';

/** A server that has one database, and whose catalog ignores case, as catalogs do. */
function serverWith(database: string, foldsNames: ServerFacts['foldsNames']): MysqlConnection {
  return {
    endpoint: 'db:3306',
    facts: { version: { flavor: 'MySQL', number: '8.4.0' }, foldsNames },
    isReadOnly: () => Promise.resolve(false),
    rows: (_statement, [asked] = []) =>
      Promise.resolve(String(asked).toLowerCase() === database.toLowerCase() ? [{ name: database }] : []),
    change: () => Promise.resolve(0),
    run: () => Promise.resolve([]),
    destroy: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

describe('hasSchema', () => {
  test('finds a database whose name differs by case only if the server folds names', async () => {
    expect(await hasSchema(serverWith('team', true), 'Team')).toBe(true);
    expect(await hasSchema(serverWith('team', false), 'Team')).toBe(false);
    for (const foldsNames of [true, false]) {
      expect(await hasSchema(serverWith('team', foldsNames), 'team')).toBe(true);
      expect(await hasSchema(serverWith('team', foldsNames), 'other')).toBe(false);
    }
  });
});
