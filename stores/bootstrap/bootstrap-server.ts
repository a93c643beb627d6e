import { randomBytes } from 'node:crypto';
import { serverSecretNames } from './server-plan.ts';
import type { ServerPlan } from './server-plan.ts';
import { serverSecrets } from './server-secrets.ts';
import { writeSecrets } from './write-secrets.ts';
import type { Secrets, SecretsTarget } from './write-secrets.ts';

/** What is needed to create the Secrets of a quick-start server. */
export interface ServerBootstrap extends Omit<SecretsTarget, 'namespace' | 'store'> {
  readonly plan: ServerPlan;
}

/**
 * Generates the administrator's password and the certificate of a quick-start server, and returns the content of the Secrets. It may be
 * repeated and interrupted at any point: a password is never replaced. Throws `StoreError`, `ApiError` and the signal's reason.
 */
export async function bootstrapServer({ plan, ...options }: ServerBootstrap): Promise<Secrets> {
  const target = { ...options, namespace: plan.namespace, store: plan.name };
  return writeSecrets(target, Object.values(serverSecretNames(plan)), (current, now) =>
    serverSecrets(plan, current, now, () => randomBytes(24)),
  );
}
