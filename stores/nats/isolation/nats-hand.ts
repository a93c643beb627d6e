import type { Tenancy, TenantHand } from '../../driver.ts';
import type { NatsConfig } from '../config.ts';
import { ask, contextOf, rawNatsClient, readDirect } from './raw-client.ts';

/** A tenant's connection to its bucket. */
export async function natsHand(config: NatsConfig, tenancy: Tenancy): Promise<TenantHand> {
  const client = await rawNatsClient(config, contextOf(config, tenancy));
  const { schema } = tenancy;
  return {
    read: async (key) => (await readDirect(client, `$JS.API.DIRECT.GET.KV_${schema}.$KV.${schema}.${key}`))?.string(),
    write: async (key, value) => {
      await ask(client, `$KV.${schema}.${key}`, value);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
