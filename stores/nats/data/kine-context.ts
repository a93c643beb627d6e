import { kineFilesFolder } from '../../driver.ts';
import type { KineBinding, Tenancy } from '../../driver.ts';
import type { NatsConfig } from '../config.ts';
import { credentialsParts } from '../credentials-file.ts';
import { tenantCredentials } from '../grants.ts';

const contextFile = 'nats.json';

/** What kine logs in with, in the words of a context file of the `nats` command. */
function login({ access }: NatsConfig, tenancy: Tenancy): Readonly<Record<string, string>> {
  if (access.mode === 'login') {
    return access.user === undefined ? {} : { user: access.user, password: access.password ?? '' };
  }
  const { jwt, seed } = credentialsParts(tenantCredentials(access, tenancy));
  return { user_jwt: jwt, user_seed: seed };
}

/**
 * How a tenant's kine reaches its bucket: by a context file. In a URL kine takes no second server, and it would take the
 * percent signs of an escaped password for the password.
 */
export function natsBinding(config: NatsConfig, tenancy: Tenancy): KineBinding {
  const { endpoints, access } = config;
  const url = endpoints.map((endpoint) => `nats://${endpoint}`).join(',');
  const replicas = access.mode === 'accounts' ? access.replicas : 1;
  return {
    kind: 'kine',
    endpoint: `nats://?contextFile=${kineFilesFolder}/${contextFile}&bucket=$(DB_SCHEMA)&replicas=${replicas}&noEmbed`,
    connection: endpoints.join(','),
    ...(access.mode === 'login' && access.user !== undefined && { user: access.user, password: access.password ?? '' }),
    files: { [contextFile]: `${JSON.stringify({ description: tenancy.schema, url, ...login(config, tenancy) })}\n` },
  };
}
