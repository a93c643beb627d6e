import { expect, test } from '@jest/globals';
import type { MysqlConnection, Row } from './connection.ts';
import { encodedName, schemaSize } from './schema-size.ts';

/** A server with these files and these statistics. */
function serverWith(
  flavor: 'MySQL' | 'MariaDB',
  { files, tables = [] }: { readonly files: readonly Row[]; readonly tables?: readonly Row[] },
) {
  const asked: string[] = [];
  const connection = {
    facts: { version: { flavor }, foldsNames: false },
    rows: (statement: string) => {
      asked.push(statement);
      return Promise.resolve(statement.includes('TABLESPACES') ? files : tables);
    },
  } as unknown as MysqlConnection;
  return { connection, asked };
}

test('a name is spelled as in the names of files', () => {
  expect(encodedName('team_shop-1$')).toBe('team_shop@002d1@0024');
});

test.each([
  ['MySQL', 'team-shop/kine'],
  ['MariaDB', 'team@002dshop/kine'],
] as const)('%s reports the size of the file of the table, however it spells its name', async (flavor, name) => {
  const { connection, asked } = serverWith(flavor, {
    files: [
      { name, bytes: '98304' },
      { name: name.toUpperCase(), bytes: '7' },
    ],
  });
  expect(await schemaSize(connection, 'team-shop')).toBe(98_304);
  expect(asked.length).toBe(1);
  expect(asked[0]?.includes('INNODB_SYS_TABLESPACES')).toBe(flavor === 'MariaDB');
});

test('where tables have no files of their own, the size is read from the statistics', async () => {
  const { connection } = serverWith('MySQL', { files: [], tables: [{ name: 'shop', bytes: '16384' }] });
  expect(await schemaSize(connection, 'shop')).toBe(16_384);
});

test('without a table there is no size', async () => {
  const { connection } = serverWith('MySQL', { files: [], tables: [{ name: 'SHOP', bytes: '16384' }] });
  expect(await schemaSize(connection, 'shop')).toBeUndefined();
});
