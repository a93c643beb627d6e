import type { BreakableStore } from '../../../../stores/contract/faults/breakable-store.ts';
import { postgresDriver } from '../../../../stores/postgres/driver.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { startPostgres } from '../../../servers/postgres-server.ts';
import { kineDataTenant } from '../kine-data-tenant.ts';
import { describePostgres } from './data-store.ts';

/**
 * A PostgreSQL with a standby that has every commit before it is acknowledged: without `synchronous_standby_names` a failover loses the last
 * ones. The primary can be lost once; then the standby is promoted, and nothing heals.
 */
export async function startBreakablePostgres(): Promise<BreakableStore> {
  const primary = await startPostgres({ tls: true });
  const standby = await startPostgres({ standbyOf: primary });
  await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await primary.sql('SELECT pg_reload_conf()');
  const dataStore = describePostgres({
    endpoints: [primary, standby].map(({ port }) => `127.0.0.1:${port}`),
    username: primary.user,
    password: primary.password,
    ca: primary.ca,
  });
  const config = await postgresDriver.configure(dataStore, () => Promise.resolve(undefined));
  const session = await postgresDriver.open(config, new AbortController().signal);
  let count = 0;
  return {
    tenant: async () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      const tenancy = { schema: name, user: name, owner, password: `password-${count}` };
      const tenant = await kineDataTenant({ driver: postgresDriver, config, session }, tenancy);
      return {
        ...tenant,
        killLeader: async () => {
          await primary.kill();
          await standby.promote();
          return 'the primary';
        },
      };
    },
    heal: () => Promise.resolve(),
    [Symbol.asyncDispose]: async () => {
      await session[Symbol.asyncDispose]();
      await standby[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
}
