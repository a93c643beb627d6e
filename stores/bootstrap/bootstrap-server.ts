import { randomBytes } from 'node:crypto';
import { serverSecretNames } from './server-plan.ts';
import type { ServerPlan } from './server-plan.ts';
import { serverSecrets } from './server-secrets.ts';
import { writeSecrets } from './write-secrets.ts';
import type { Secrets, SecretsTarget } from './write-secrets.ts';

/** With what the Secrets of a quick-start server are made. */
export interface ServerBootstrap extends Omit<SecretsTarget, 'namespace' | 'store'> {
  readonly plan: ServerPlan;
}

/**
 * Makes the administrator's password and the certificate of a quick-start server, and returns what the Secrets hold. May be
 * repeated and cut short at any point: a password is never replaced. Throws `StoreError`, `ApiError` and the signal's reason.
 */
export async function bootstrapServer({ plan, ...options }: ServerBootstrap): Promise<Secrets> {
  const target = { ...options, namespace: plan.namespace, store: plan.name };
  return writeSecrets(target, Object.values(serverSecretNames(plan)), (current, now) =>
    serverSecrets(plan, current, now, () => randomBytes(24)),
  );
}
