import { KineData } from '../kine/kine-data.ts';
import type { Tenancy } from '../driver.ts';
import { loginClientTls } from '../login-client-tls.ts';
import type { LoginConfig } from '../login-config.ts';
import { StoreError } from '../store-error.ts';
import type { TenancyData } from '../tenancy-data.ts';
import type { PostgresClient } from './postgres-client.ts';
import { dropCopyLogin, makeCopyLogin } from './postgres-copy-login.ts';
import { PostgresKineTable } from './postgres-kine-table.ts';

/**
 * The data of a tenancy, reached with the tenant's rights over a login that is made for it. Everything in its database is the
 * tenant's to change: what an administrator reads there (a view with a function in it, a trigger) would run as the administrator.
 */
export async function openPostgresData(calls: PostgresClient, tenancy: Tenancy): Promise<TenancyData> {
  const { config } = calls;
  const { username, password } = await makeCopyLogin(calls, tenancy.user);
  const drop = async (): Promise<void> => {
    try {
      await dropCopyLogin(calls, username);
    } catch (error) {
      // What was copied is copied. Nobody can use the login soon, and the next copy or the removal drops it.
      if (!(error instanceof StoreError)) throw error;
    }
  };
  try {
    const issued = await loginClientTls(config, { ...tenancy, user: username }, undefined, new Date());
    const { certificate, key } = issued ?? {};
    const client = certificate !== undefined && key !== undefined ? { certificate, key } : config.tls?.client;
    const login: LoginConfig = {
      ...{ endpoints: config.endpoints, username, password },
      ...(config.tls && { tls: { ca: config.tls.ca, ...(client && { client }) } }),
    };
    return new KineData(await PostgresKineTable.open(login, { tenancy, closed: drop }));
  } catch (error) {
    await drop();
    throw error;
  }
}
