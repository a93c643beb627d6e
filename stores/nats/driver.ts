import type { ClientTls, Driver, Tenancy } from '../driver.ts';
import { loginClientTls } from '../login-client-tls.ts';
import { natsBinding } from './data/kine-context.ts';
import { natsChecksum } from './config.ts';
import type { NatsConfig } from './config.ts';
import { readNatsConfig } from './read-config.ts';

/**
 * NATS with JetStream: a tenancy is a bucket, which the tenant's kine reaches.
 *
 * With `spec.nats` the bucket is in an account of its own. Its JWT, signed by the operator's key, is sent to the servers by a
 * user of the system account; it names the tenant's signing key, permissions and limits. All keys follow from the operator's key
 * and the tenancy with its password, and none is kept. Names and their owners are recorded in one more account. The servers need
 * `operator`, `system_account`, and a `resolver` of `type: full` with `allow_delete: true` (server-config.ts writes it).
 *
 * Without it there is one login for all, and thus one tenant: the owner is recorded beside the bucket.
 */
export const natsDriver: Driver<NatsConfig> = {
  name: 'NATS',
  capabilities: {
    passwords: true,
    kine: true,
    opensUncopied: false,
    servesOneTenant: (spec) => spec.nats === undefined,
  },
  configure: readNatsConfig,
  checksum: natsChecksum,
  bind: natsBinding,
  clientTls: natsClientTls,
  open: async (config, signal) => {
    signal.throwIfAborted();
    // Loaded on first use: a manager without a NATS store does not need the client.
    if (config.access.mode === 'accounts') {
      const { AccountSession } = await import('./account-session.ts');
      return new AccountSession(config, config.access);
    }
    const { LoginSession } = await import('./login-session.ts');
    return new LoginSession(config, config.access);
  },
  isolation: async () => (await import('./isolation/probe.ts')).natsProbe,
};

/**
 * If the client certificate is the only credential, the tenant uses the manager's; otherwise the manager's is never passed
 * on.
 */
async function natsClientTls(
  { tls, access }: NatsConfig,
  tenancy: Tenancy,
  current: ClientTls | undefined,
  now: Date,
): Promise<ClientTls | undefined> {
  if (tls?.client !== undefined && access.mode === 'login' && access.user === undefined) {
    const { certificate, key } = tls.client;
    return { ca: tls.ca, certificate, key };
  }
  return tls && loginClientTls({ tls }, tenancy, current, now);
}
