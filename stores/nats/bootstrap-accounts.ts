import { randomBytes } from 'node:crypto';
import { serverCertificates } from '../bootstrap/server-secrets.ts';
import type { RandomBytes } from '../bootstrap/server-secrets.ts';
import { serverSecretNames } from '../bootstrap/server-plan.ts';
import type { ServerPlan } from '../bootstrap/server-plan.ts';
import { writeSecrets } from '../bootstrap/write-secrets.ts';
import type { SecretTexts, Secrets, SecretsTarget } from '../bootstrap/write-secrets.ts';
import { StoreError } from '../store-error.ts';
import { credentialsProblem } from './credentials-file.ts';
import { nkeyOfSeed } from './nkey.ts';
import { operatorKeys, systemCredentials } from './operator.ts';
import type { OperatorKeys } from './operator.ts';
import { accountsConfig } from './server-config.ts';

/** Secrets of a quick-start NATS whose tenants have accounts, besides those of its certificate. */
export const natsAccountsSecretNames = {
  /**
   * `operator.seed`: the identity that servers trust, needed to write their configuration again; `signing.seed` and
   * `system.creds`: what the DataStore refers to. No pod mounts it.
   */
  operator: 'nats-operator',
  /** `accounts.conf`: the part of the servers' configuration that says whom they trust. Mounted by them. */
  configuration: 'nats-operator-config',
} as const;

/** Folder of the server's data in its pod. */
const dataFolder = '/data';

/** What is needed to bootstrap such a NATS. */
export interface NatsAccountsBootstrap extends Omit<SecretsTarget, 'namespace' | 'store'> {
  readonly plan: Omit<ServerPlan, 'administrator'>;
}

/**
 * Generates the operator, its system account and the certificate of a quick-start NATS, and returns the content of the Secrets. It may be
 * repeated and interrupted at any point: the operator is never replaced, and `system.creds` only when it is missing, by another user of
 * the system account. Throws `StoreError`, `ApiError` and the signal's reason.
 */
export async function bootstrapNatsAccounts({ plan, ...options }: NatsAccountsBootstrap): Promise<Secrets> {
  const target = { ...options, namespace: plan.namespace, store: plan.name };
  const { authority, server } = serverSecretNames(plan);
  const names = [...Object.values(natsAccountsSecretNames), authority, server];
  return writeSecrets(target, names, (current, now) => accountsSecrets(plan, current, now, randomBytes));
}

async function accountsSecrets(
  plan: NatsAccountsBootstrap['plan'],
  current: Secrets,
  now: Date,
  random: (size: number) => Uint8Array,
): Promise<Secrets> {
  const names = natsAccountsSecretNames;
  const before = current.get(names.operator);
  const keys = keptKeys(before, () => random(32));
  const kept = before?.['system.creds'] ?? '';
  const user = `steward-${Buffer.from(random(4)).toString('hex')}`;
  const system = kept !== '' && credentialsProblem(kept) === undefined ? kept : systemCredentials(keys, user);
  const seeds = { 'operator.seed': keys.operator.seed, 'signing.seed': keys.signing.seed };
  return new Map<string, SecretTexts>([
    [names.operator, { ...seeds, 'system.creds': system }],
    [names.configuration, { 'accounts.conf': accountsConfig(dataFolder, keys) }],
    ...(await serverCertificates({ ...plan, administrator: '' }, current, now)),
  ]);
}

/** The keys derived from the seed in the Secret, or new ones when there is no Secret: tenants' accounts depend on them. */
function keptKeys(texts: SecretTexts | undefined, random: RandomBytes): OperatorKeys {
  if (texts === undefined) return operatorKeys(random());
  const operator = nkeyOfSeed('operator', texts['operator.seed'] ?? '');
  if (operator !== undefined) return operatorKeys(operator.raw);
  throw new StoreError(
    'CredentialsInvalid',
    `Secret ${natsAccountsSecretNames.operator}, operator.seed: it is not the seed of an operator (SO…). Servers and tenants' ` +
      'accounts trust it, so none is generated: restore it, or delete the Secret and the data',
  );
}
