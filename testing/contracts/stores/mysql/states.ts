import type { Tenancy } from '../../../../stores/driver.ts';
import type { PlantedFault, StoreUnderTest } from '../../../../stores/contract/driver-contract.ts';
import type { MysqlConfig } from '../../../../stores/mysql/driver.ts';
import { openMysqlConnection } from '../../../../stores/mysql/open-connection.ts';
import { recordOwnership } from '../../../../stores/mysql/ownership.ts';
import {
  account,
  createDatabase,
  createKineTable,
  fencedPrivileges,
  grantTable,
  identifier,
  literal,
  table,
} from '../../../../stores/mysql/sql.ts';
import { asAdministrator } from './as-administrator.ts';

type HalfMade = StoreUnderTest<MysqlConfig>['halfMade'];

async function record(config: MysqlConfig, tenancy: Tenancy): Promise<void> {
  const [endpoint] = config.endpoints;
  if (endpoint === undefined) throw new RangeError('no endpoint');
  const { username, password, tls } = config;
  await using connection = await openMysqlConnection({ endpoint, username, password, tls });
  await recordOwnership(connection, tenancy);
}

/** The states between the steps of `ensure`. */
export function halfMadeTenancies(config: MysqlConfig): HalfMade {
  const run =
    (text: (tenancy: Tenancy) => string) =>
    (tenancy: Tenancy): Promise<void> =>
      asAdministrator(config, text(tenancy));
  const encrypted = config.tls !== undefined;
  const steps: HalfMade = [
    { name: 'owner recorded', make: (tenancy) => record(config, tenancy) },
    { name: 'database made', make: run(({ schema }) => createDatabase(schema)) },
    { name: 'table made', make: run(({ schema }) => createKineTable(schema)) },
    {
      name: 'account made with another password and no limits',
      make: run(({ user }) => `CREATE USER ${account(user)} IDENTIFIED BY 'other' REQUIRE NONE`),
    },
    {
      name: 'account altered',
      make: run(({ user }) => `ALTER USER ${account(user)} REQUIRE ${encrypted ? 'SSL' : 'NONE'}`),
    },
    { name: 'read granted', make: run(({ schema, user }) => grantTable(schema, user, fencedPrivileges)) },
    {
      name: 'too much granted',
      make: run(
        ({ schema, user }) => `GRANT ALL PRIVILEGES ON ${identifier(schema)}.* TO ${account(user)} WITH GRANT OPTION`,
      ),
    },
  ];
  return steps.map(({ name }, last) => ({
    name,
    make: async (tenancy) => {
      for (const step of steps.slice(0, last + 1)) await step.make(tenancy);
    },
  }));
}

/** What the Go Steward and kine make together: a grant on the database with its wildcards unescaped, and a table of ASCII. */
export async function makeAsGoSteward(config: MysqlConfig, { schema, user, password = '' }: Tenancy): Promise<void> {
  await asAdministrator(
    config,
    `CREATE DATABASE ${identifier(schema)}`,
    createKineTable(schema)
      .replace('CHARACTER SET binary', 'CHARACTER SET ascii')
      .replace('id BIGINT UNSIGNED', 'id INTEGER'),
    `INSERT INTO ${table(schema)} (name, created, deleted, create_revision, prev_revision, lease) VALUES ('compact_rev_key', 1, 0, 0, 0, 0)`,
    `CREATE USER ${account(user)} IDENTIFIED BY ${literal(password)}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, INDEX ON ${identifier(schema)}.* TO ${account(user)}`,
  );
}

/** The victim's name as a pattern in which an underscore replaces its last letter, as in the attacker's own name. */
function pattern(schema: string): string {
  return identifier(`${schema.slice(0, -1)}_`);
}

/** Mistakes that let tenants of a MySQL out. */
export function plantedFaults(config: MysqlConfig): readonly PlantedFault[] {
  const fault = (name: string, text: (attacker: Tenancy, victim: Tenancy) => string): PlantedFault => ({
    name,
    plant: (attacker, victim) => asAdministrator(config, text(attacker.tenancy, victim.tenancy)),
  });
  return [
    fault(
      'an unescaped underscore in a grant on a database',
      (attacker, victim) =>
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ${pattern(victim.schema)}.* TO ${account(attacker.user)}`,
    ),
    fault(
      'a grant on every database',
      (attacker) => `GRANT SELECT ON ${identifier('%')}.* TO ${account(attacker.user)}`,
    ),
    fault(
      'a shared login',
      (attacker, victim) => `ALTER USER ${account(victim.user)} IDENTIFIED BY ${literal(attacker.password ?? '')}`,
    ),
    fault(
      "one column of the victim's table",
      (attacker, victim) => `GRANT SELECT (value) ON ${table(victim.schema)} TO ${account(attacker.user)}`,
    ),
    fault('the right to see all statements', (attacker) => `GRANT PROCESS ON *.* TO ${account(attacker.user)}`),
    fault('the right to files', (attacker) => `GRANT FILE ON *.* TO ${account(attacker.user)}`),
    fault(
      'the right to pass on its own table',
      (attacker) => `GRANT SELECT ON ${table(attacker.schema)} TO ${account(attacker.user)} WITH GRANT OPTION`,
    ),
    {
      ...fault(
        'no limit of connections',
        (attacker) => `ALTER USER ${account(attacker.user)} WITH MAX_USER_CONNECTIONS 0`,
      ),
      // To take more than its share of connections would take them from others.
      unverified: true,
    },
    fault('no duty to encrypt', (attacker) => `ALTER USER ${account(attacker.user)} REQUIRE NONE`),
  ].filter(({ name }) => config.tls !== undefined || name !== 'no duty to encrypt');
}
