import type { Driver } from '../driver.ts';
import { loginClientTls } from '../login-client-tls.ts';
import { loginChecksum, readLoginConfig } from '../login-config.ts';
import type { LoginConfig } from '../login-config.ts';

/** CockroachDB through kine, which speaks to it as to PostgreSQL: a tenancy is to be a database and a user of its own. */
export const cockroachDriver: Driver<LoginConfig> = {
  name: 'CockroachDB',
  capabilities: { passwords: true, kine: true, opensUncopied: false, servesOneTenant: () => false },
  configure: readLoginConfig,
  checksum: loginChecksum,
  bind: ({ endpoints }) => ({
    kind: 'kine',
    endpoint: 'postgres://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)/$(DB_SCHEMA)?sslmode=verify-full',
    connection: endpoints[0]?.name ?? '',
  }),
  clientTls: loginClientTls,
  open: async (_config, signal) => {
    signal.throwIfAborted();
    const { CockroachSession } = await import('./session.ts');
    return new CockroachSession();
  },
  isolation: async () => (await import('./isolation/probe.ts')).cockroachProbe,
};
