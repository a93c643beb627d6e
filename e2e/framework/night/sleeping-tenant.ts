import { setTimeout as pause } from 'node:timers/promises';

import type { KubernetesClient, PlainObject } from '../../cluster/kubernetes-client.ts';
import type { Machine } from '../../cluster/machines/machine.ts';
import type { CommandOutput } from '../../cluster/machines/run-command.ts';
import { deadlineIn } from '../deadline-in.ts';
import { minutes } from '../minutes.ts';
import { untilReached } from '../network/until-reached.ts';
import { caller, scratch, shiftPods } from './shift-pods.ts';

/** Name and label of the pods on the worker. */
const app = 'shift';

/** What must be the same after a night, each as sorted lines. */
export interface WorkerLives {
  /** Pods of all namespaces, with their UIDs and how often their containers were restarted. */
  readonly pods: readonly string[];
  readonly nodes: readonly string[];
  /** The programs of the worker, by the process ids of this host: what has started again has others. */
  readonly programs: readonly string[];
}

/** A tenant, and the machine that is its only worker. */
export interface SleepingTenantParts {
  readonly client: KubernetesClient;
  readonly worker: Machine;
  readonly kubectl: (args: readonly string[]) => Promise<CommandOutput>;
  readonly diagnose: () => Promise<string>;
}

interface Taint {
  readonly key: string;
  readonly effect: string;
}

/** A tenant that is to sleep for a night, with pods on its worker. */
export class SleepingTenant {
  readonly #parts: SleepingTenantParts;

  constructor(parts: SleepingTenantParts) {
    this.#parts = parts;
  }

  get client(): KubernetesClient {
    return this.#parts.client;
  }

  /** Runs kubectl against its API server. */
  kubectl(args: readonly string[]): Promise<CommandOutput> {
    return this.#parts.kubectl(args);
  }

  /** Starts its pods, and resolves when all of them are ready and reach the API server. */
  async startPods(): Promise<void> {
    const { client, diagnose } = this.#parts;
    await client.apply([shiftPods(app)]);
    const address = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: app };
    await client.waitFor(address, (object) => object?.status?.readyReplicas === 2, {
      timeoutMs: 2 * minutes,
      diagnose,
    });
    await this.podsReachApiServer(new Date(Date.now() - 2000));
    for (const pod of await this.#ownPods()) await this.#parts.worker.writeFile(noteOf(pod), pod.metadata?.uid ?? '');
  }

  /** Waits until all its pods have called the API server without an error since then. */
  async podsReachApiServer(since: Date): Promise<void> {
    for (const pod of await this.#ownPods()) await this.#reaches(pod.metadata?.name ?? '', since);
  }

  /** What its pods have in their empty volumes, which goes with a pod: their own UID. */
  async notes(): Promise<readonly boolean[]> {
    const pods = await this.#ownPods();
    const { worker } = this.#parts;
    return Promise.all(pods.map(async (pod) => (await worker.readFile(noteOf(pod))) === pod.metadata?.uid));
  }

  /** What must be the same after a night. */
  async lives(): Promise<WorkerLives> {
    const { client, worker } = this.#parts;
    const pods = await client.list('v1', 'Pod');
    const nodes = await client.list('v1', 'Node');
    return {
      pods: pods.map(lifeOf).toSorted(),
      nodes: nodes.map(({ metadata }) => `${metadata?.name ?? ''} ${metadata?.uid ?? ''}`).toSorted(),
      programs: await programsOf(worker),
    };
  }

  /** The programs of its worker alone, which can be read while nothing answers. */
  programs(): Promise<readonly string[]> {
    return programsOf(this.#parts.worker);
  }

  /** Taints of its nodes because of which pods are evicted. */
  async taints(): Promise<readonly string[]> {
    const nodes = await this.#parts.client.list('v1', 'Node');
    const taints = nodes.flatMap(({ spec }) => (spec?.taints ?? []) as readonly Taint[]);
    return taints.filter(({ effect }) => effect === 'NoExecute').map(({ key }) => key);
  }

  /** What happened to its pods and nodes since then, as far as Events say so; those of volumes and probes are left out. */
  async eventsSince(time: Date): Promise<readonly string[]> {
    const events = await this.#parts.client.list('v1', 'Event');
    return events.flatMap((event) => {
      const { reason, message, lastTimestamp, eventTime } = event as Partial<
        Record<'reason' | 'message' | 'lastTimestamp' | 'eventTime', string | null>
      >;
      const at = Date.parse(lastTimestamp ?? eventTime ?? '');
      return at < time.getTime() ? [] : [`${reason ?? ''}: ${message ?? ''}`];
    });
  }

  /** How many calls of its pods were refused since then because of their tokens. */
  async refusedCalls(since: Date): Promise<number> {
    let count = 0;
    for (const { metadata } of await this.#ownPods()) {
      const args = ['logs', metadata?.name ?? '', '-c', caller, `--since-time=${since.toISOString()}`];
      const { stdout } = await untilReached(() => this.#parts.kubectl(args));
      count += stdout.match(/error checking .*(Unauthorized|provide credentials)/g)?.length ?? 0;
    }
    return count;
  }

  async #ownPods(): Promise<readonly PlainObject[]> {
    return this.#parts.client.list('v1', 'Pod', 'default', `app=${app}`);
  }

  async #reaches(pod: string, since: Date): Promise<void> {
    const args = ['logs', pod, '-c', caller, '--tail=4', `--since-time=${since.toISOString()}`];
    for (const deadline = deadlineIn(3 * minutes); ;) {
      const { stdout } = await untilReached(() => this.#parts.kubectl(args));
      const lines = stdout.trimEnd().split('\n');
      if (lines.length === 4 && lines.every((line) => /calling|authz_header=[^<]/.test(line))) return;
      if (Date.now() > deadline)
        throw new Error(`${pod} does not reach its API server:\n${stdout}\n${await this.#parts.diagnose()}`);
      await pause(500);
    }
  }
}

const noteOf = ({ metadata }: PlainObject): string =>
  `/var/lib/kubelet/pods/${metadata?.uid ?? ''}/volumes/kubernetes.io~empty-dir/${scratch}/note`;

function lifeOf({ metadata, status }: PlainObject): string {
  const containers = (status?.containerStatuses ?? []) as readonly { readonly restartCount: number }[];
  const restarts = containers.map(({ restartCount }) => restartCount).join();
  const end = metadata?.deletionTimestamp === undefined ? '' : ` deleted at ${metadata.deletionTimestamp}`;
  const name = `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  return `${name} ${metadata?.uid ?? ''} ${String(status?.phase)} restarts ${restarts}${end}`;
}

const programs = ['agnhost', 'containerd', 'containerd-shim', 'coredns', 'kube-proxy', 'kubelet', 'pause'];

/** Looks twice: a process that is about to become another program still has the name of the one that started it. */
async function programsOf(worker: Machine): Promise<readonly string[]> {
  const look = async (): Promise<readonly string[]> =>
    (await worker.processes())
      .filter(({ command }) => programs.includes(command))
      .map(({ pid, command }) => `${command} ${pid}`);
  const first = await look();
  await pause(200);
  const second = new Set(await look());
  return first.filter((line) => second.has(line)).toSorted();
}
