import type { EtcdClient } from './client.ts';

/**
 * Creates user and role `root` and enables authentication; from then on, only a client certificate with the common name `root` is an
 * administrator. May be repeated at any point. Throws `StoreError`.
 */
export async function enableAuthentication(client: EtcdClient): Promise<void> {
  if (await client.authEnabled()) return;
  await client.addUser('root');
  await client.addRole('root');
  await client.grantRole('root', 'root');
  await client.enableAuth();
}
