import type { Driver } from '../driver.ts';
import { loginClientTls } from '../login-client-tls.ts';
import { loginChecksum, readLoginConfig } from '../login-config.ts';
import type { LoginConfig } from '../login-config.ts';
import { postgresBinding } from './binding.ts';

/**
 * PostgreSQL through kine: a tenancy is a database of the schema's name, which only its tenant may connect to, and a role of the
 * user's name with a password of its own. The database belongs to the administrator, kine's table in it to the tenant.
 */
export const postgresDriver: Driver<LoginConfig> = {
  name: 'PostgreSQL',
  capabilities: { passwords: true, kine: true, opensUncopied: true, servesOneTenant: () => false },
  configure: readLoginConfig,
  checksum: loginChecksum,
  bind: postgresBinding,
  clientTls: loginClientTls,
  open: async (config, signal) => {
    signal.throwIfAborted();
    // Loaded on first use: a manager without such a store does not need the library.
    const [{ PostgresClient }, { PostgresSession }] = await Promise.all([
      import('./client.ts'),
      import('./session.ts'),
    ]);
    return new PostgresSession(new PostgresClient(config));
  },
  isolation: async () => (await import('./isolation/probe.ts')).postgresProbe,
};
