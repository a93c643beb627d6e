import type { Tenancy } from '../../../../stores/driver.ts';
import type { LoginConfig } from '../../../../stores/login-config.ts';
import { postgresDriver } from '../../../../stores/postgres/driver.ts';
import type { DataTenant, DataUnderTest } from '../../../../stores/contract/tenancy-data-contract.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { describePostgres } from './data-store.ts';
import { startPostgres } from '../../../servers/postgres-server.ts';
import { kineDataTenant } from '../kine-data-tenant.ts';

/** A PostgreSQL that gives tenancies, whose hands are kines with the tenants' credentials. */
export async function startPostgresDataUnderTest(): Promise<DataUnderTest> {
  const server = await startPostgres({ tls: true });
  const dataStore = describePostgres({
    endpoints: [`127.0.0.1:${server.port}`],
    username: server.user,
    password: server.password,
    ca: server.ca,
  });
  const config: LoginConfig = await postgresDriver.configure(dataStore, () => Promise.resolve(undefined));
  const session = await postgresDriver.open(config, new AbortController().signal);
  let count = 0;
  return {
    tenant: (): Promise<DataTenant> => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      const tenancy: Tenancy = { schema: name, user: name, owner, password: `password-${count}` };
      return kineDataTenant({ driver: postgresDriver, config, session }, tenancy);
    },
    [Symbol.asyncDispose]: async () => {
      await session[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
