import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { IsolationProbe, Tenant, TenantHand } from '../../driver.ts';
import type { Attack } from '../../isolation/attempt.ts';
import type { LoginConfig } from '../../login-config.ts';
import { sqlState } from '../errors.ts';
import { administrationAttacks, isPostgresAnswer, isPostgresRefusal, loginAttacks, serverAttacks } from './attacks.ts';
import { rawPostgres } from './raw-client.ts';

/** Acts as tenants of a PostgreSQL: connections of the library itself, with a tenant's password and certificate. */
export const postgresProbe: IsolationProbe<LoginConfig> = {
  connect,
  attack,
  isRefusal: isPostgresRefusal,
  isAnswer: isPostgresAnswer,
};

/** kine's table, as far as these keys need it. */
const columns =
  'id bigserial PRIMARY KEY, name text, created int, deleted int, create_revision bigint, prev_revision bigint, lease int, value bytea, old_value bytea';

async function connect(config: LoginConfig, tenant: Tenant): Promise<TenantHand> {
  const client = await rawPostgres(config, tenant);
  return {
    read: async (key) => {
      try {
        const newest = 'SELECT value FROM kine WHERE name = $1 ORDER BY id DESC LIMIT 1';
        const { rows } = await client.query<{ value: Buffer }>(newest, [`/registry/${key}`]);
        return rows[0]?.value.toString();
      } catch (error) {
        // kine has not made its table yet.
        if (sqlState(error) === '42P01') return undefined;
        throw error;
      }
    },
    write: async (key, value) => {
      await client.query(`CREATE TABLE IF NOT EXISTS kine (${columns})`);
      await client.query('INSERT INTO kine (name, created, deleted, lease, value) VALUES ($1, 1, 0, 0, $2)', [
        `/registry/${key}`,
        Buffer.from(value),
      ]);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function attack(config: LoginConfig, attacker: Tenant, victim: Tenant): Promise<Attack> {
  const client = await rawPostgres(config, attacker);
  const victims = await openedAsVictim(config, attacker, victim);
  const secret = `secret-of-the-victim-${randomUUID()}`;
  const { rows } = await victims.query<{ pid: number }>(`SELECT pg_backend_pid() AS pid, '${secret}' AS secret`);
  const all = { config, client, attacker, victim, victimProcess: rows[0]?.pid ?? 0, secret };
  return {
    lanes: [[...administrationAttacks(all), ...serverAttacks(all)], loginAttacks(all)],
    [Symbol.asyncDispose]: async () => {
      await Promise.all([client.end(), victims.end()]);
    },
  };
}

/** One of the mistakes that attacks find is that both have the attacker's password: then the victim has no other way in. */
async function openedAsVictim(config: LoginConfig, attacker: Tenant, victim: Tenant): Promise<Client> {
  try {
    return await rawPostgres(config, victim);
  } catch (error) {
    const { password } = attacker.tenancy;
    if (!isPostgresRefusal(error) || password === undefined) throw error;
    return rawPostgres(config, { ...victim, tenancy: { ...victim.tenancy, password } });
  }
}
