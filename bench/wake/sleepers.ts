import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { isCondition, TenantStage } from '../../e2e/framework/tenant-stage.ts';
import { scheduleThatSays } from '../../e2e/framework/waking/schedule-that-says.ts';

/** What a tenant records of its sleep, as far as it is read here. */
interface SleepSeen {
  readonly state?: string;
  readonly ended?: { readonly byRequest?: number };
}

/** Until many tenants are Ready, asleep or gone, in milliseconds. */
const longMs = 600_000;

/** How long kube-proxy is given to program a change, which it does once a second; in milliseconds. */
const proxyMs = 3000;

/** Tenants of one namespace that are put to sleep and woken up. Disposing deletes them all. */
export class Sleepers implements AsyncDisposable {
  readonly stage: TenantStage;
  readonly #cluster: ManagementCluster;
  readonly #names = new Set<string>();

  private constructor(stage: TenantStage) {
    this.stage = stage;
    this.#cluster = stage.cluster;
  }

  static async open(cluster: ManagementCluster, namespace: string): Promise<Sleepers> {
    await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
    return new Sleepers(new TenantStage(cluster, namespace));
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  /** Creates tenants, all at once; resolves when they are Ready. */
  async add(manifests: readonly PlainObject[]): Promise<void> {
    const names = manifests.map(({ metadata }) => metadata?.name ?? '');
    for (const name of names) this.#names.add(name);
    await this.#cluster.apply(manifests);
    for (const name of names) await this.stage.waitFor(name, isCondition('Ready', 'True'), { timeoutMs: longMs });
  }

  /** Has its schedule say that it sleeps, and that a call wakes it up. */
  async letSleep(name: string): Promise<void> {
    await this.#set(name, 1, { schedules: [scheduleThatSays('asleep')], wakeOn: ['Request'] });
  }

  /** Resolves when it sleeps by its schedule and has no pods anymore. */
  async untilAsleep(name: string): Promise<void> {
    await this.stage.waitFor(name, isCondition('Asleep', 'True', 'Scheduled'), { timeoutMs: longMs });
    await this.stage.untilNoPods(name, longMs);
  }

  /** Resolves when its Service leads to the activator, and kube-proxy had time to see that. */
  async untilLed(name: string): Promise<void> {
    await this.#cluster.waitFor(
      this.stage.activatorSlice(name),
      (object) => [object?.endpoints ?? []].flat().length > 0,
      {
        ...{ what: 'addresses of the activator', timeoutMs: longMs },
        diagnose: () => this.stage.diagnose(name),
      },
    );
    await pause(proxyMs);
  }

  /** Scales it to 0, as a person does, with a schedule that says that it is awake and without the activator. */
  async stopByHand(name: string): Promise<void> {
    await this.#set(name, 0, { schedules: [scheduleThatSays('awake')], wakeOn: null });
  }

  /** Scales it to 1; resolves when its pod is Ready. */
  async startByHand(name: string): Promise<void> {
    await this.#set(name, 1);
    for (const latest = performance.now() + longMs; !(await this.stage.pods(name)).some(isReady);) {
      if (performance.now() > latest) throw new Error(`${name} does not start.\n${await this.stage.diagnose(name)}`);
      await pause(25);
    }
  }

  /** How often calls have woken it up, and whether it sleeps. */
  async seen(name: string): Promise<{ readonly isAsleep: boolean; readonly wakes: number }> {
    const { state, ended } = await this.#sleep(name);
    return { isAsleep: state === 'Asleep', wakes: ended?.byRequest ?? 0 };
  }

  /** How many of these tenants do not sleep, or were woken up by a call. */
  async awoken(names: readonly string[] = this.names): Promise<number> {
    const all = await Promise.all(names.map((name) => this.seen(name)));
    return all.filter(({ isAsleep, wakes }) => !isAsleep || wakes > 0).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { client } = this.#cluster;
    await Promise.all(this.names.map((name) => client.delete(this.stage.tenant(name))));
    for (const name of this.names) await this.stage.gone(this.stage.tenant(name), longMs);
  }

  async #set(name: string, replicas: number, sleep?: Readonly<Record<string, unknown>>): Promise<void> {
    const spec = { controlPlane: { deployment: { replicas } }, ...(sleep !== undefined && { sleep }) };
    await this.#cluster.client.merge(this.stage.tenant(name), { spec });
  }

  async #sleep(name: string): Promise<SleepSeen> {
    const object = await this.#cluster.client.read(this.stage.tenant(name));
    return object?.status?.sleep ?? {};
  }
}

function isReady({ status }: PlainObject): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}
