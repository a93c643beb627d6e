import type { Tenant } from '../../driver.ts';
import { reaching } from '../../isolation/attempt.ts';
import type { Attempt, Try } from '../../isolation/attempt.ts';
import type { LoginConfig } from '../../login-config.ts';
import { connectionsOfAccount } from '../sql.ts';
import { HiddenError } from './attempts.ts';
import { rawMysql, tenantLogin } from './raw-client.ts';
import type { RawLogin } from './raw-client.ts';

/** Logins that are not the attacker's. */
export function loginAttacks(config: LoginConfig, attacker: Tenant, victim: Tenant): readonly Attempt[] {
  const own = tenantLogin(attacker);
  const login = (name: string, over: Partial<RawLogin>): Try => ({
    name,
    run: async () => {
      const connection = await rawMysql(config, { ...own, ...over });
      connection.destroy();
    },
  });
  const neighbor = { user: victim.tenancy.user, database: victim.tenancy.schema };
  const tenants = [
    login('log in as another tenant with the own password', neighbor),
    login('log in as another tenant without a password', { ...neighbor, password: '' }),
    login('log in without a user', { user: '', password: '' }),
    login('log in to the database of another tenant', { database: victim.tenancy.schema }),
    login("log in to the server's own database", { database: 'mysql' }),
    ...(config.tls === undefined ? [] : [login('log in without TLS', { ca: undefined })]),
  ];
  // A server may lock an administrator out after some of these.
  const server = [
    login('log in as the administrator with the own password', { user: config.username, database: 'mysql' }),
    login('log in as root without a password', { user: 'root', password: '', database: 'mysql' }),
    { name: 'take more connections than an account has', run: () => takeConnections(config, own) },
  ];
  return [...reaching('tenants', tenants), ...reaching('server', server)];
}

/** Opens one connection more than allowed; the one that the attacks use counts too. */
async function takeConnections(config: LoginConfig, login: RawLogin): Promise<void> {
  const tries = Array.from({ length: connectionsOfAccount + 1 }, () => rawMysql(config, login));
  const outcomes = await Promise.allSettled(tries);
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value.destroy();
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refused !== undefined) throw asRefusal(refused.reason);
}

/** Here the limit of the account counts as a refusal; anywhere else it proves nothing. */
function asRefusal(error: unknown): unknown {
  const isLimit = error instanceof Error && 'errno' in error && error.errno === 1226;
  return isLimit ? new HiddenError('the account has its limit') : error;
}
