import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import { writeSecrets } from '../../bootstrap/write-secrets.ts';
import type { Secrets } from '../../bootstrap/write-secrets.ts';
import { StoreError } from '../../store-error.ts';
import { etcdEndpoints, etcdSecretNames } from './bootstrap-plan.ts';
import type { EtcdPlan } from './bootstrap-plan.ts';
import { etcdSecrets } from './bootstrap-secrets.ts';
import { enableAuthentication } from '../grants.ts';

/** What is needed to bootstrap a quick-start etcd. */
export interface EtcdBootstrap {
  readonly plan: EtcdPlan;
  readonly cluster: Pick<Cluster, 'get' | 'create' | 'patch'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The addresses of the members, `host:port`; default: their names in the cluster. */
  readonly endpoints?: readonly string[];
}

const retryMs = 500;
const reportEveryMs = 10_000;

/**
 * Issues the certificates of a quick-start etcd, waits until a majority of its members serves, and enables authentication with the
 * user `root`. It may be repeated and interrupted at any point. Throws `StoreError` or `ApiError`, and the signal's reason when that
 * aborts first.
 */
export async function bootstrapEtcd(options: EtcdBootstrap): Promise<void> {
  const secrets = await writeEtcdSecrets(options);
  const texts = secrets.get(etcdSecretNames.administrator) ?? {};
  // Loaded when it is needed: gRPC is large.
  const { EtcdClient } = await import('../client.ts');
  const endpoints = options.endpoints ?? etcdEndpoints(options.plan);
  const client = { certificate: texts['tls.crt'] ?? '', key: texts['tls.key'] ?? '' };
  await using etcd = new EtcdClient({ endpoints, ca: texts['ca.crt'] ?? '', client });
  options.log.info('waiting for the etcd members', { endpoints });
  await untilDone(options, () => enableAuthentication(etcd));
  options.log.info('etcd is ready: authentication is enabled, its administrator is user root');
}

/** Creates or renews the Secrets where necessary, and returns their content. */
export async function writeEtcdSecrets({ plan, ...options }: EtcdBootstrap): Promise<Secrets> {
  const target = { ...options, namespace: plan.namespace, store: 'etcd' };
  return writeSecrets(target, Object.values(etcdSecretNames), (current, now) => etcdSecrets(plan, current, now));
}

/** Retries until it works while the datastore does not answer, and logs that from time to time. */
async function untilDone({ clock, log, signal }: EtcdBootstrap, attempt: () => Promise<void>): Promise<void> {
  let reportedAt = clock.monotonic();
  for (;;) {
    signal.throwIfAborted();
    try {
      await attempt();
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== 'Unreachable') throw error;
      if (clock.monotonic() - reportedAt >= reportEveryMs) {
        reportedAt = clock.monotonic();
        log.info('still waiting for the etcd members', { seen: error.message });
      }
    }
    await sleep(clock, retryMs, signal);
  }
}
