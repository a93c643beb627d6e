import type { ObjectAddress, PlainObject } from '../../cluster/kubernetes-client.ts';
import { minutes } from '../minutes.ts';
import { isCondition } from '../tenant-stage.ts';
import type { TenantStage } from '../tenant-stage.ts';
import { activatorSelector, installActivator } from '../waking/install-activator.ts';
import { knock } from '../waking/knock.ts';
import { scheduleThatSays } from '../waking/schedule-that-says.ts';

const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
const timeoutMs = 3 * minutes;

/** A namespace in which no control plane can be created. */
const refused = 'watched-refused';
/** The name of the pool in either namespace. */
const pool = 'small';

/** Brings about what dashboards show of control planes that sleep, of their callers, and of pools. Disposing ends it. */
export class DashboardStage implements AsyncDisposable {
  readonly #stage: TenantStage;
  readonly #created: ObjectAddress[] = [];
  #unused: string | undefined;

  constructor(stage: TenantStage) {
    this.#stage = stage;
  }

  /** Installs the activator, and returns where its metrics are, as `host:port`. */
  async startActivator(): Promise<readonly string[]> {
    const { cluster } = this.#stage;
    await installActivator(cluster);
    const pods = await cluster.client.list('v1', 'Pod', 'steward-system', activatorSelector);
    return pods.map(({ status }) => `${String(status?.podIP)}:8081`);
  }

  /** Creates a control plane that a person has scaled to 0. */
  async scaleToZero(name: string): Promise<void> {
    const service = { serviceType: 'ClusterIP' };
    await this.#create(this.#stage.manifest(name, { controlPlane: { deployment: { replicas: 0 }, service } }));
  }

  /** Leaves an existing control plane unused, and creates one whose use cannot be read. */
  async leaveUnused(name: string): Promise<void> {
    await this.#create(
      this.#stage.manifest('unreadable', {
        sleep: { afterIdle: '720h' },
        controlPlane: {
          // With that, kube-apiserver does not count requests by their users.
          deployment: { replicas: 1, extraArgs: { apiServer: ['--enable-priority-and-fairness=false'] } },
          service: { serviceType: 'ClusterIP' },
        },
      }),
    );
    // It counts as idle after half of that.
    const sleep = { afterIdle: '6m', schedules: [scheduleThatSays('awake')] };
    await this.#change(name, sleep);
    this.#unused = name;
  }

  /** One more control plane sleeps, a call without TLS is refused, and a call wakes it up. */
  async wakeByCall(name: string): Promise<void> {
    const stage = this.#stage;
    await this.#create(stage.manifest(name));
    const { controlPlaneEndpoint = '' } = await stage.waitFor(name, 'Ready', { timeoutMs });
    await this.#change(name, { schedules: [scheduleThatSays('asleep')], wakeOn: ['Request'] });
    await stage.waitFor(name, isCondition('Asleep', 'True', 'Scheduled'));
    await stage.untilNoPods(name);
    await knock(controlPlaneEndpoint, 'GET /healthz HTTP/1.1\r\nhost: shop\r\n\r\n');
    await stage.cluster.kubectl(['--kubeconfig', await stage.kubeconfigFile(name), 'get', 'namespaces']);
  }

  /** A pool that refills itself for two claims. */
  async claimTwice(): Promise<void> {
    const stage = this.#stage;
    await this.#create(this.#pool(stage.namespace));
    for (const name of ['first', 'second']) {
      await this.#create(claim(stage.namespace, name));
      const bound = addressOf('ControlPlaneClaim', stage.namespace, name);
      await stage.cluster.waitFor(bound, 'Bound', {
        timeoutMs,
        diagnose: () => stage.cluster.diagnose(stage.namespace),
      });
    }
  }

  /** A pool that cannot be filled because of a quota of its namespace, and a claim that waits for it. */
  async claimInVain(): Promise<void> {
    const { cluster } = this.#stage;
    const hard = { 'count/tenantcontrolplanes.steward.butlerlabs.dev': '0' };
    await cluster.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: refused } },
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: refused, name: 'none' }, spec: { hard } },
    ]);
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', namespace: refused, name: 'none' };
    await cluster.waitFor(quota, (object) => object?.status?.used !== undefined, { timeoutMs });
    await this.#create(this.#pool(refused));
    await this.#create(claim(refused, 'vain'));
    await cluster.waitFor(
      addressOf('ControlPlanePool', refused, pool),
      isCondition('Ready', 'False', 'CreationRefused'),
      { timeoutMs, diagnose: () => cluster.diagnose(refused) },
    );
  }

  /** Deletes what was created, and has the unused control plane awake. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { client } = this.#stage.cluster;
    for (const address of this.#created.toReversed()) await client.delete(address);
    if (this.#unused === undefined) return;
    await this.#change(this.#unused, null);
    await this.#stage.waitFor(this.#unused, 'Ready', { timeoutMs });
  }

  async #create(manifest: PlainObject): Promise<void> {
    const { apiVersion: version = '', kind = '', metadata: { namespace, name = '' } = {} } = manifest;
    this.#created.push({ apiVersion: version, kind, name, ...(namespace !== undefined && { namespace }) });
    await this.#stage.cluster.apply([manifest]);
  }

  async #change(name: string, sleep: object | null): Promise<void> {
    await this.#stage.cluster.client.merge(this.#stage.tenant(name), { spec: { sleep } });
  }

  #pool(namespace: string): PlainObject {
    const { spec } = this.#stage.manifest(pool);
    return {
      ...{ apiVersion, kind: 'ControlPlanePool', metadata: { namespace, name: pool } },
      spec: { minReady: 1, maxReady: 1, template: { spec } },
    };
  }
}

const addressOf = (kind: string, namespace: string, name: string): ObjectAddress => {
  return { apiVersion, kind, namespace, name };
};

const claim = (namespace: string, name: string): PlainObject => {
  return { apiVersion, kind: 'ControlPlaneClaim', metadata: { namespace, name }, spec: { pool } };
};
