import type { Clock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { Logger } from '../../runtime/logger.ts';
import { writeSecrets } from '../bootstrap/write-secrets.ts';
import type { Secrets } from '../bootstrap/write-secrets.ts';
import { StoreError } from '../store-error.ts';
import { etcdEndpoints, etcdSecretNames } from './bootstrap-plan.ts';
import type { EtcdPlan } from './bootstrap-plan.ts';
import { etcdSecrets } from './bootstrap-secrets.ts';
import { enableAuthentication } from './etcd-auth.ts';

/** With what a quick-start etcd is made usable. */
export interface EtcdBootstrap {
  readonly plan: EtcdPlan;
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'patch'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Where the members are reached, `host:port`; their names in the cluster unless said. */
  readonly endpoints?: readonly string[];
}

const retryMs = 500;
const tellEveryMs = 10_000;

/**
 * Makes the certificates of a quick-start etcd, waits until a majority of its members
 * serves, and switches authentication on with the user
 * `root`. May be repeated and cut short at any point; what is good stays. Throws `StoreError` or `ApiError`, and the signal's
 * reason when that aborts first.
 */
export async function bootstrapEtcd(options: EtcdBootstrap): Promise<void> {
  const secrets = await writeEtcdSecrets(options);
  const texts = secrets.get(etcdSecretNames.administrator) ?? {};
  // Loaded when it is needed: gRPC is large.
  const { EtcdClient } = await import('./etcd-client.ts');
  const endpoints = options.endpoints ?? etcdEndpoints(options.plan);
  const client = { certificate: texts['tls.crt'] ?? '', key: texts['tls.key'] ?? '' };
  await using etcd = new EtcdClient({ endpoints, ca: texts['ca.crt'] ?? '', client });
  options.log.info('waiting for the members', { endpoints });
  await untilDone(options, () => enableAuthentication(etcd));
  options.log.info('etcd is ready: authentication is on, its administrator is the user root');
}

/** Writes what is missing or has to be renewed, and returns what the Secrets hold. */
export async function writeEtcdSecrets({ plan, ...options }: EtcdBootstrap): Promise<Secrets> {
  const target = { ...options, namespace: plan.namespace, store: 'etcd' };
  return writeSecrets(target, Object.values(etcdSecretNames), (current, now) => etcdSecrets(plan, current, now));
}

/** Tries until it works, telling now and then what is waited for. Only a store that does not answer is waited for. */
async function untilDone({ clock, log, signal }: EtcdBootstrap, attempt: () => Promise<void>): Promise<void> {
  let told = clock.monotonic();
  for (;;) {
    signal.throwIfAborted();
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== 'Unreachable') throw error;
      if (clock.monotonic() - told >= tellEveryMs) {
        told = clock.monotonic();
        log.info('still waiting for the members', { seen: error.message });
      }
    }
    await sleep(clock, retryMs, signal);
  }
}
