import { createConnection } from 'mysql2/promise';
import { expect, test } from '@jest/globals';
import { startMariadb } from './mariadb-server.ts';

test('MariaDB serves with TLS, keeps its data across a kill, and runs as nobody', async () => {
  await using server = await startMariadb({ tls: true });
  await server.sql('CREATE DATABASE kept');
  await server.restart();
  const root = await createConnection({
    host: 'localhost',
    port: server.port,
    user: 'root',
    password: server.password,
    ssl: { ca: server.ca?.certificate ?? '', verifyIdentity: true },
  });
  try {
    const [rows] = await root.query("SHOW DATABASES LIKE 'kept'");
    expect(rows).toHaveLength(1);
    const [users] = await root.query('SELECT User, Host FROM mysql.user ORDER BY Host');
    expect(users).toEqual([
      { User: 'root', Host: '%' },
      { User: 'mariadb.sys', Host: 'localhost' },
      { User: 'root', Host: 'localhost' },
    ]);
  } finally {
    await root.end();
  }
}, 60_000);
