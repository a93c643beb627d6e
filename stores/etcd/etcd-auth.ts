import type { EtcdClient } from './etcd-client.ts';

/**
 * Creates user and role `root` and switches authentication on; from then on only a client certificate with the common name
 * `root` administers. May be repeated at any point. Throws `StoreError`.
 */
export async function enableAuthentication(client: EtcdClient): Promise<void> {
  if (await client.authEnabled()) return;
  await client.addUser('root');
  await client.addRole('root');
  await client.grantRole('root', 'root');
  await client.enableAuth();
}
