import { KineData } from '../../kine/kine-data.ts';
import type { Tenancy, TenancyContent } from '../../driver.ts';
import { loginClientTls } from '../../login-client-tls.ts';
import type { LoginConfig } from '../../login-config.ts';
import { StoreError } from '../../store-error.ts';
import type { TenancyData } from '../../tenancy-data.ts';
import type { PostgresClient } from '../client.ts';
import { beginWriting, dropCopyLogin, endWriters, makeCopyLogin } from './copy-login.ts';
import { PostgresKineTable } from './kine-table.ts';

/** The data of a tenancy, in kine's table, which is made where there is none. Throws `StoreError`. */
export async function openPostgresData(calls: PostgresClient, tenancy: Tenancy): Promise<TenancyData> {
  const table = await openTable(calls, tenancy);
  try {
    await table.create();
    return new KineData(table);
  } catch (error) {
    await table[Symbol.asyncDispose]();
    throw error;
  }
}

/** What a tenancy stores. Throws `StoreError`. */
export async function postgresContent(calls: PostgresClient, tenancy: Tenancy): Promise<TenancyContent> {
  await using table = await openTable(calls, tenancy);
  return await table.content();
}

/**
 * The table of a tenancy, accessed with the tenant's rights by a role that is created for the copy. The tenant can change everything in its
 * database, so for an administrator, a view with a function, or a trigger, would run with the administrator's rights.
 */
async function openTable(calls: PostgresClient, tenancy: Tenancy): Promise<PostgresKineTable> {
  const { config } = calls;
  const { username, password } = await makeCopyLogin(calls, tenancy.user);
  const drop = async (): Promise<void> => {
    try {
      await dropCopyLogin(calls, username);
    } catch (error) {
      // The copy itself is not affected: the role expires soon, and the next copy or the removal drops it.
      if (!(error instanceof StoreError)) throw error;
    }
  };
  try {
    const issued = await loginClientTls(config, { ...tenancy, user: username }, undefined, new Date());
    const { certificate, key } = issued ?? {};
    const client = certificate !== undefined && key !== undefined ? { certificate, key } : config.tls?.client;
    const login: LoginConfig = {
      ...{ endpoints: config.endpoints, username, password },
      ...(config.tls && { tls: { ca: config.tls.ca, client } }),
    };
    return await PostgresKineTable.open(login, {
      tenancy,
      closed: drop,
      beginWriting: () => beginWriting(calls, tenancy.user, username),
      endOthers: () => endWriters(calls, tenancy.user, username),
    });
  } catch (error) {
    await drop();
    throw error;
  }
}
