import type { Tenancy } from '../../../../stores/driver.ts';
import type { PlantedFault, StoreUnderTest } from '../../../../stores/contract/driver-contract.ts';
import type { Tenant } from '../../../../stores/driver.ts';
import type { LoginConfig } from '../../../../stores/login-config.ts';
import { PostgresClient } from '../../../../stores/postgres/client.ts';
import { quoted } from '../../../../stores/postgres/connection.ts';
import { PostgresOwnership } from '../../../../stores/postgres/ownership.ts';

type HalfMade = StoreUnderTest<LoginConfig>['halfMade'];

async function record(config: LoginConfig, tenancy: Tenancy): Promise<void> {
  await using client = new PostgresClient(config);
  await new PostgresOwnership(client).record(tenancy);
}

/** Runs statements as the administrator. */
async function asOperator(config: LoginConfig, database: string, ...statements: readonly string[]): Promise<void> {
  await using client = new PostgresClient(config);
  await client.within(database, async (connection) => {
    for (const statement of statements) await connection.run(statement);
  });
}

const isMember = (user: string): string =>
  `DO $$ BEGIN IF NOT pg_has_role(current_user, ${quoted.text(user)}, 'USAGE') THEN GRANT ${quoted.name(user)} TO CURRENT_USER; END IF; END $$`;

/** The states between the steps of `ensure`, and some that only a person makes. `limited`: the operator is no superuser. */
export function halfMadeTenancies(config: LoginConfig, limited: boolean): HalfMade {
  const run =
    (...texts: readonly ((schema: string, user: string) => string)[]) =>
    ({ schema, user }: Tenancy): Promise<void> =>
      asOperator(config, 'postgres', ...texts.map((text) => text(quoted.name(schema), quoted.name(user))));
  const rights = `CREATEDB CREATEROLE ${limited ? '' : 'SUPERUSER REPLICATION BYPASSRLS'}`;
  const steps: HalfMade = [
    { name: 'owner recorded', make: (tenancy) => record(config, tenancy) },
    { name: 'role made with another password', make: run((_, user) => `CREATE ROLE ${user} PASSWORD 'other'`) },
    {
      name: 'role locked out',
      make: run((_, user) => `ALTER ROLE ${user} NOLOGIN VALID UNTIL '2001-01-01' CONNECTION LIMIT 0`),
    },
    {
      name: 'role with rights and memberships',
      make: run(
        (_, user) => `ALTER ROLE ${user} ${rights}`,
        ...(limited ? [] : [(_: string, user: string): string => `GRANT pg_read_all_data TO ${user}`]),
      ),
    },
    {
      name: 'database closed to all',
      make: run((schema) => `CREATE DATABASE ${schema} TEMPLATE template0 ALLOW_CONNECTIONS false`),
    },
    {
      name: 'database of the tenant, with settings and as a template',
      make: async (tenancy) => {
        await asOperator(config, 'postgres', isMember(tenancy.user));
        await run(
          (schema) => `ALTER DATABASE ${schema} SET search_path = evil`,
          (schema) => `ALTER DATABASE ${schema} IS_TEMPLATE true CONNECTION LIMIT 0`,
          (schema, user) => `ALTER DATABASE ${schema} OWNER TO ${user}`,
        )(tenancy);
      },
    },
    {
      name: 'database open',
      make: run((schema) => `ALTER DATABASE ${schema} CONNECTION LIMIT 1 ALLOW_CONNECTIONS true`),
    },
    { name: 'schema missing', make: ({ schema }) => asOperator(config, schema, 'DROP SCHEMA public') },
    { name: 'grants missing', make: run((schema, user) => `REVOKE ALL ON DATABASE ${schema} FROM ${user}, PUBLIC`) },
  ];
  return steps.map(({ name }, last) => ({
    name,
    make: async (tenancy) => {
      for (const step of steps.slice(0, last + 1)) await step.make(tenancy);
    },
  }));
}

/** Makes a tenancy as the Go Steward does, and with a table that its migration has copied. */
export async function makeAsGoSteward(config: LoginConfig, { schema, user, password }: Tenancy): Promise<void> {
  const [database, role] = [quoted.name(schema), quoted.name(user)];
  const columns =
    'created int, deleted int, create_revision int, prev_revision int, lease int, value bytea, old_value bytea';
  await asOperator(
    config,
    'postgres',
    `CREATE DATABASE ${database} TEMPLATE template0`,
    `CREATE ROLE ${role} LOGIN PASSWORD ${quoted.text(password ?? '')}`,
    `GRANT CONNECT, CREATE ON DATABASE ${database} TO ${role}`,
  );
  await asOperator(config, schema, `CREATE TABLE public.kine (id serial PRIMARY KEY, name varchar(630), ${columns})`);
  await asOperator(config, 'postgres', isMember(user), `ALTER DATABASE ${database} OWNER TO ${role}`);
}

/** A tenancy's names and password, ready for a statement. */
interface Names {
  readonly schema: string;
  readonly user: string;
  readonly password: string;
}

/** Mistakes of administrators: each is made by the operator, who is to repair it. `limited`: the operator is no superuser. */
export function plantedFaults(config: LoginConfig, limited: boolean): readonly PlantedFault[] {
  const names = ({ tenancy }: Tenant): Names => ({
    schema: quoted.name(tenancy.schema),
    user: quoted.name(tenancy.user),
    password: quoted.text(tenancy.password ?? ''),
  });
  const fault = (name: string, text: (own: Names, other: Names) => string): PlantedFault => ({
    name,
    plant: (attacker, victim) => asOperator(config, 'postgres', text(names(attacker), names(victim))),
  });
  const grants: readonly (readonly [name: string, role: string])[] = [
    ['reads all data', 'pg_read_all_data'],
    ['reads the machine', 'pg_read_server_files'],
    ['runs programs', 'pg_execute_server_program'],
    ['ends the sessions of others', 'pg_signal_backend'],
    ['sees what others ask', 'pg_read_all_stats'],
  ];
  return [
    fault('CONNECT left to PUBLIC', (_own, other) => `GRANT CONNECT ON DATABASE ${other.schema} TO PUBLIC`),
    fault('CONNECT granted to another', (own, other) => `GRANT CONNECT ON DATABASE ${other.schema} TO ${own.user}`),
    fault('a shared login', (own, other) => `GRANT ${other.user} TO ${own.user}`),
    fault('one password for both', (own, other) => `ALTER ROLE ${other.user} PASSWORD ${own.password}`),
    fault('a login that makes databases', (own) => `ALTER ROLE ${own.user} CREATEDB`),
    fault('a database that its tenant owns', (own) => `ALTER DATABASE ${own.schema} OWNER TO ${own.user}`),
    fault('TEMPORARY left to PUBLIC', (own) => `GRANT TEMPORARY ON DATABASE ${own.schema} TO PUBLIC`),
    // Only a superuser can make these mistakes in every version, and only a superuser can repair them.
    ...(limited
      ? []
      : [
          fault('a login that replicates', (own) => `ALTER ROLE ${own.user} REPLICATION`),
          ...grants.map(([what, role]) => fault(`a role that ${what}`, (own) => `GRANT ${role} TO ${own.user}`)),
        ]),
  ];
}
