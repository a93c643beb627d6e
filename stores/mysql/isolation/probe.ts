import type { Connection, RowDataPacket } from 'mysql2/promise';
import type { IsolationProbe, Tenant, TenantHand } from '../../driver.ts';
import type { Attack } from '../../isolation/attempt.ts';
import type { LoginConfig } from '../../login-config.ts';
import { adminAttacks, catalogAttacks, dataAttacks, ownSchemaAttacks } from './attacks.ts';
import { isMysqlAnswer, isMysqlRefusal } from './attempts.ts';
import { loginAttacks } from './login-attacks.ts';
import { rawMysql, tenantLogin } from './raw-client.ts';

/** Acts as tenants of a MySQL or MariaDB: connections of the library itself, with a tenant's password. */
export const mysqlProbe: IsolationProbe<LoginConfig> = {
  connect,
  attack,
  isRefusal: isMysqlRefusal,
  isAnswer: isMysqlAnswer,
};

async function connect(config: LoginConfig, tenant: Tenant): Promise<TenantHand> {
  const client = await rawMysql(config, tenantLogin(tenant));
  const newest = async (key: string): Promise<RowDataPacket | undefined> => {
    const statement = 'SELECT id, value FROM kine WHERE name = ? ORDER BY id DESC LIMIT 1';
    return (await client.execute<RowDataPacket[]>(statement, [`/registry/${key}`]))[0][0];
  };
  return {
    read: async (key) => {
      const value: unknown = (await newest(key))?.value;
      return Buffer.isBuffer(value) ? value.toString('utf8') : undefined;
    },
    write: async (key, value) => {
      const columns = '(name, created, deleted, create_revision, prev_revision, lease, value)';
      const values = [`/registry/${key}`, (await newest(key))?.id ?? '0', value];
      await client.execute(`INSERT INTO kine ${columns} VALUES (?, 1, 0, 0, ?, 0, ?)`, values);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function attack(config: LoginConfig, attacker: Tenant, victim: Tenant): Promise<Attack> {
  const client = await rawMysql(config, tenantLogin(attacker));
  const victims = await openedAsVictim(config, attacker, victim);
  const [own, other] = [attacker.tenancy.schema, victim.tenancy.schema];
  return {
    lanes: [
      [
        ...dataAttacks(client, own, other),
        ...ownSchemaAttacks(client, own),
        ...adminAttacks(client, attacker, victim, victims.threadId),
        ...catalogAttacks(client, victim),
      ],
      loginAttacks(config, attacker, victim),
    ],
    [Symbol.asyncDispose]: () => {
      for (const each of [client, victims]) each.destroy();
      return Promise.resolve();
    },
  };
}

/** One of the mistakes that attacks find is that both have the attacker's password: then the victim has no other way in. */
async function openedAsVictim(config: LoginConfig, attacker: Tenant, victim: Tenant): Promise<Connection> {
  try {
    return await rawMysql(config, tenantLogin(victim));
  } catch (error) {
    if (!isMysqlRefusal(error)) throw error;
    return rawMysql(config, { ...tenantLogin(victim), password: attacker.tenancy.password ?? '' });
  }
}
