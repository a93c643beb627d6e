import type { Driver } from '../driver.ts';
import { issuedClientTls } from '../issued-client-tls.ts';
import { sharedClientTls } from '../shared-client-tls.ts';
import { etcdChecksum, readEtcdConfig } from './config.ts';
import type { EtcdConfig } from './config.ts';
import { EtcdSession } from './session.ts';

/**
 * etcd: a tenancy is a user without password (the common name of its client certificate), a role of the schema's name and
 * read-write access to exactly the keys under `/<schema>/`. With authentication on tenants cannot compact: etcd compacts by
 * itself (`--auto-compaction-mode=periodic`), and `publishCompaction` lets their API servers know.
 */
export const etcdDriver: Driver<EtcdConfig> = {
  name: 'etcd',
  capabilities: { passwords: false, kine: false, opensUncopied: true, servesOneTenant: () => false },
  configure: readEtcdConfig,
  checksum: etcdChecksum,
  bind: (config, tenancy) => ({
    kind: 'etcd',
    endpoints: config.endpoints.map((endpoint) => `https://${endpoint}`),
    prefix: `/${tenancy.schema}`,
  }),
  clientTls: issuedClientTls,
  sharedClientTls,
  open: async (config, signal) => {
    signal.throwIfAborted();
    // Loaded on first use: gRPC costs 28 MB that a manager without an etcd store does not need.
    const { EtcdClient } = await import('./client.ts');
    return new EtcdSession(new EtcdClient(config));
  },
  isolation: async () => (await import('./isolation/probe.ts')).etcdProbe,
};
