import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { runCommand } from '../cluster/machines/run-command.ts';
import type { Progress } from '../cluster/machines/supplies.ts';
import type { Worker } from '../cluster/worker.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';
import { tooFew } from '../framework/load/load-shortfalls.ts';
import { apiServerProbe, probeContainers } from '../framework/load/probe-pods.ts';
import { readProbeLog } from '../framework/load/probe-log.ts';
import type { ProbeLog } from '../framework/load/probe-log.ts';
import { minutes } from '../framework/minutes.ts';
import { TenantStage, versionAt } from '../framework/tenant-stage.ts';
import { addonsRun } from '../framework/workers/addons-run.ts';
import { closeKubelet } from '../framework/workers/close-kubelet.ts';
import { joinByHand, machineKubelet } from '../framework/workers/tenant-worker.ts';
import { imageArchives } from '../tools/images.ts';
import type { KubernetesRelease } from '../tools/kubernetes-releases.ts';
import type { MinorResult, MinorUpgrade } from './minor-result.ts';

/** One run of one minor. */
export interface MinorRun {
  readonly cluster: ManagementCluster;
  readonly release: KubernetesRelease;
  /** What its control plane is upgraded to; a text says why it is not. */
  readonly next: KubernetesRelease | string;
  readonly progress: Progress;
}

/** What a run tells; the rest of a result is when and of which commit it was. */
export type MinorFindings = Omit<MinorResult, 'date' | 'commit'>;

const namespace = 'minors';
const pod = 'asks';
const controlPlaneImages = /kube-(apiserver|controller-manager|scheduler):/;
/** What the add-ons of another minor run on the worker. */
const addonImages = /(kube-proxy|coredns):/;

/**
 * Runs a tenant of this minor with a worker of the same minor and a pod that calls the API server by its name, reads the pod's logs
 * through konnectivity, upgrades the control plane while the pod calls, and removes everything. Never throws: what failed is in the result.
 */
export async function runMinor(run: MinorRun): Promise<MinorFindings> {
  const { cluster, release, next, progress } = run;
  const { version } = release;
  const name = `of-${version.replaceAll('.', '-')}`;
  const stage = new TenantStage(cluster, namespace);
  const noUpgrade = typeof next === 'string' ? next : undefined;
  let secondsToReady: number | undefined;
  let upgrade: MinorUpgrade | undefined;
  const trial = new Trial(run, stage, name);
  const errors: string[] = [];
  try {
    secondsToReady = await trial.step('control plane', () => trial.becomesReady());
    await trial.step('worker', () => trial.worker());
    await trial.step('pod', () => trial.podCalls());
    if (typeof next !== 'string') upgrade = await trial.step(`upgrade to ${next.version}`, () => trial.upgrade(next));
  } catch (error) {
    errors.push(error instanceof Error ? error.message : String(error));
  }
  try {
    await trial.step('deletion', () => trial.remove());
  } catch (error) {
    errors.push(error instanceof Error ? error.message : String(error));
  }
  for (const error of errors) progress(version, error);
  const [error] = errors.map(firstLine);
  return { version, outcome: error === undefined ? 'passed' : 'failed', secondsToReady, upgrade, noUpgrade, error };
}

/** The steps of one run. */
class Trial {
  readonly #run: MinorRun;
  readonly #stage: TenantStage;
  readonly #name: string;
  #endpoint = '';
  #worker: Worker | undefined;

  constructor(run: MinorRun, stage: TenantStage, name: string) {
    this.#run = run;
    this.#stage = stage;
    this.#name = name;
  }

  /** Does one step; its error begins with its name. */
  async step<T>(what: string, act: () => Promise<T>): Promise<T> {
    this.#run.progress(this.#run.release.version, what);
    try {
      return await act();
    } catch (error) {
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  /** @returns seconds from the request until it is Ready. */
  async becomesReady(): Promise<number> {
    const { cluster, release } = this.#run;
    await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
    await this.#giveImages(release, controlPlaneImages, (archive) => cluster.loadImage(archive));
    const began = performance.now();
    await cluster.apply([
      this.#stage.manifest(this.#name, {
        controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
        kubernetes: { version: release.version, kubelet: machineKubelet },
        addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
      }),
    ]);
    const { controlPlaneEndpoint = '' } = await this.#readyAt(release.version);
    const seconds = secondsSince(began);
    this.#endpoint = controlPlaneEndpoint;
    await this.#answersAs(release.version);
    return seconds;
  }

  async worker(): Promise<void> {
    const { release } = this.#run;
    const worker = `${this.#name}-worker`;
    const to = { tenant: this.#name, endpoint: this.#endpoint, worker, kubernetes: release.version };
    this.#worker = await joinByHand(this.#stage, to);
    const client = await this.#stage.open(this.#name);
    const node = await client.read({ apiVersion: 'v1', kind: 'Node', name: worker });
    const { kubeletVersion } = (node?.status?.nodeInfo ?? {}) as { readonly kubeletVersion?: string };
    if (kubeletVersion !== release.version) throw new Error(`its kubelet is ${kubeletVersion ?? 'of no version'}`);
    await addonsRun(client, { diagnose: () => this.#lastWords() });
    await closeKubelet(this.#worker, client);
  }

  async podCalls(): Promise<void> {
    const client = await this.#stage.open(this.#name);
    const image = `registry.k8s.io/e2e-test-images/agnhost:${this.#run.release.agnhostVersion}`;
    await client.apply([apiServerProbe(pod, `${this.#name}-worker`, image)]);
    const diagnose = (): Promise<string> => this.#lastWords();
    await client.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: pod }, 'Ready', {
      timeoutMs: 2 * minutes,
      diagnose,
    });
    const { failed } = await this.#called(new Date(0), () => 3);
    if (failed.length > 0) throw new Error(`${failed.length} calls failed, the first one with: ${failed[0] ?? ''}`);
  }

  async upgrade(next: KubernetesRelease): Promise<MinorUpgrade> {
    const { cluster } = this.#run;
    await this.#giveImages(next, controlPlaneImages, (archive) => cluster.loadImage(archive));
    await this.#giveImages(next, addonImages, async (archive) => this.#worker?.machine.importImage(archive));
    const since = new Date();
    const began = performance.now();
    await cluster.client.merge(this.#stage.tenant(this.#name), { spec: { kubernetes: { version: next.version } } });
    await this.#readyAt(next.version);
    const seconds = secondsSince(began);
    await this.#answersAs(next.version);
    const client = await this.#stage.open(this.#name);
    const proxy = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'kube-proxy' };
    const isNew = (object: PlainObject | undefined): boolean =>
      JSON.stringify(object?.spec).includes(`kube-proxy:${next.version}`) &&
      object?.status?.observedGeneration === object?.metadata?.generation &&
      object?.status?.updatedNumberScheduled === 1;
    const diagnose = (): Promise<string> => this.#lastWords();
    await client.waitFor(proxy, isNew, { timeoutMs: 2 * minutes, what: `the kube-proxy of ${next.version}`, diagnose });
    await addonsRun(client, { diagnose });
    // What was cut off by the last change shows in a later call.
    const made = await this.#logs(since);
    const { calls, failed } = await this.#called(since, (container) => (made.get(container)?.calls ?? 0) + 3);
    if (failed.length > 0) throw new Error(`${failed.length} of ${calls} calls failed, first with: ${failed[0] ?? ''}`);
    const asked = { what: 'calls', count: calls, perSecond: probeContainers.length };
    const few = tooFew([{ ...asked, lastedMs: performance.now() - began }]);
    if (few.length > 0) throw new Error(few.join());
    return { to: next.version, seconds, calls, failedCalls: failed.length };
  }

  /** Removes tenant and worker, also after a failure. */
  async remove(): Promise<void> {
    const { cluster } = this.#run;
    const args = ['-n', namespace, 'delete', 'tcp', this.#name, '--ignore-not-found', kubectlTimeout(180)];
    try {
      await cluster.kubectl(args, { timeoutMs: 200_000, diagnose: () => this.#stage.diagnose(this.#name) });
    } finally {
      const machines = await cluster.harness.machines();
      const own = machines.filter((machine) => machine.name === `${this.#name}-worker`);
      for (const machine of own) await cluster.harness.removeMachine(machine);
    }
  }

  async #readyAt(version: string): ReturnType<TenantStage['waitFor']> {
    const isReady = (object: PlainObject | undefined): boolean => {
      const { version: seen } = (object?.status?.kubernetesResources ?? {}) as {
        readonly version?: { readonly version?: string; readonly status?: string };
      };
      return seen?.version === version && seen.status === 'Ready';
    };
    return this.#stage.waitFor(this.#name, isReady, { timeoutMs: 5 * minutes, what: `Ready at ${version}` });
  }

  async #answersAs(version: string): Promise<void> {
    const ca = (await this.#stage.secret(`${this.#name}-ca`))['ca.crt'] ?? '';
    const answered = await versionAt(this.#endpoint, ca);
    if (answered !== version) throw new Error(`${this.#endpoint} answers as ${answered}, and not as ${version}`);
  }

  async #giveImages(
    { version }: KubernetesRelease,
    wanted: RegExp,
    give: (archive: string) => Promise<void>,
  ): Promise<void> {
    const progress = (line: string): void => {
      this.#run.progress('images', line);
    };
    for (const { names, path: archive } of await imageArchives({ kubernetes: version, progress }))
      if (names.some((name) => wanted.test(name))) await give(archive);
  }

  /** Waits until each container of the pod has called so often since then; returns what all of them called. */
  async #called(since: Date, atLeast: (container: string) => number): Promise<ProbeLog> {
    for (const deadline = deadlineIn(minutes); ;) {
      const logs = await this.#logs(since);
      const all = [...logs.values()];
      const failed = all.flatMap((log) => log.failed);
      if ([...logs].every(([container, { calls }]) => calls >= atLeast(container)))
        return { calls: all.reduce((sum, { calls }) => sum + calls, 0), failed };
      if (Date.now() > deadline) {
        const seen = [...logs].map(([container, { calls }]) => `${calls} of ${atLeast(container)} ${container}`);
        throw new Error(`calls are missing: ${seen.join(', ')}; ${failed.join(', ')}\n${await this.#lastWords()}`);
      }
      await pause(250);
    }
  }

  /**
   * What the pod's containers have called, by their names, read with the minor's own kubectl through konnectivity. After an upgrade the
   * agents have some seconds to find the new server.
   */
  async #logs(since: Date): Promise<ReadonlyMap<string, ProbeLog>> {
    const { cluster, release } = this.#run;
    const kubectl = path.join(cluster.harness.folder, 'bin', release.version, 'kubectl');
    const kubeconfig = await this.#stage.kubeconfigFile(this.#name);
    const read = async (container: string): Promise<readonly [string, ProbeLog]> => {
      const args = ['--kubeconfig', kubeconfig, 'logs', pod, '-c', container, `--since-time=${since.toISOString()}`];
      for (const deadline = deadlineIn(minutes / 2); ;) {
        try {
          const { stdout } = await runCommand(kubectl, args, { timeoutMs: 30_000 });
          return [container, readProbeLog(stdout)];
        } catch (error) {
          if (Date.now() > deadline) throw error;
          await pause(250);
        }
      }
    };
    return new Map(await Promise.all(probeContainers.map(read)));
  }

  async #lastWords(): Promise<string> {
    return (await this.#worker?.machine.lastWords()) ?? '';
  }
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 300);
}

/** To a tenth. */
function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 100) / 10;
}
