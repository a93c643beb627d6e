import { setTimeout as pause } from 'node:timers/promises';

import type { ObjectAddress, PlainObject } from '../../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { deadlineIn } from '../deadline-in.ts';
import { conditionOf, isCondition } from '../tenant-stage.ts';
import type { GitServer } from './git-server.ts';
import { fluxNamespace as namespace } from './install-flux.ts';

const requestedAt = 'reconcile.fluxcd.io/requestedAt';

interface KustomizationStatus {
  readonly lastAppliedRevision?: string;
  readonly lastAttemptedRevision?: string;
  readonly lastHandledReconcileAt?: string;
  readonly observedGeneration?: number;
}

const statusOf = (object: PlainObject | undefined): KustomizationStatus =>
  (object?.status ?? {}) as KustomizationStatus;

/** Flux on a management cluster, with the one GitRepository that it follows, as its user sees it. */
export class FluxStage {
  readonly cluster: ManagementCluster;
  readonly git: GitServer;
  #requests = 0;

  constructor(cluster: ManagementCluster, git: GitServer) {
    this.cluster = cluster;
    this.git = git;
  }

  kustomization(name: string): ObjectAddress {
    return { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', namespace, name };
  }

  /** Pushes a commit and has Flux fetch it, as `flux reconcile source git` does. Returns its revision. */
  async push(message: string, files: Readonly<Record<string, string | undefined>>): Promise<string> {
    const revision = await this.git.commit(message, files);
    const source = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', namespace, name: 'fleet' };
    await this.#request(source);
    const isFetched = (object: PlainObject | undefined): boolean =>
      (object?.status as { artifact?: { revision?: string } } | undefined)?.artifact?.revision === revision;
    await this.#waitFor(source, isFetched, `revision ${revision}`);
    return revision;
  }

  /** Waits until a Kustomization is Ready with a revision. */
  async applied(name: string, revision: string, timeoutMs = 120_000): Promise<void> {
    await this.#waitFor(this.kustomization(name), isApplied(revision), `being Ready with ${revision}`, timeoutMs);
  }

  /** Waits until a Kustomization has failed with a revision for a reason, and returns its message. */
  async failed(name: string, revision: string, reason: string, timeoutMs = 120_000): Promise<string> {
    const hasFailed = (object: PlainObject | undefined): boolean =>
      statusOf(object).lastAttemptedRevision === revision && isCondition('Ready', 'False', reason)(object);
    const what = `${reason} with ${revision}`;
    const found = await this.#waitFor(this.kustomization(name), hasFailed, what, timeoutMs);
    return conditionOf(found, 'Ready')?.message ?? '';
  }

  /**
   * Has Flux apply a Kustomization once more, as `flux reconcile kustomization` does, and waits until it is Ready again.
   * @returns what Flux's log says that it did to each object.
   */
  async reconcile(name: string): Promise<Readonly<Record<string, string>>> {
    const earlier = (await this.#applies(name)).length;
    const value = await this.#request(this.kustomization(name));
    const isHandled = (object: PlainObject | undefined): boolean =>
      statusOf(object).lastHandledReconcileAt === value && isSettled(object);
    await this.#waitFor(this.kustomization(name), isHandled, `having reconciled ${value}`);
    const deadline = deadlineIn(20_000);
    for (;;) {
      const now = await this.#applies(name);
      const last = now.at(-1);
      if (now.length > earlier && last !== undefined) return last;
      if (Date.now() > deadline) throw new Error(`Flux's log does not say that it has applied ${name} again.`);
      await pause(200);
    }
  }

  /** What two objects were at almost the same moment, the Kustomization first, until it is Ready with a revision. */
  async besides(
    name: string,
    revision: string,
    other: ObjectAddress,
  ): Promise<readonly { isApplied: boolean; other: PlainObject | undefined }[]> {
    const seen: { isApplied: boolean; other: PlainObject | undefined }[] = [];
    const deadline = deadlineIn(240_000);
    for (;;) {
      const found = await this.cluster.client.read(this.kustomization(name));
      const now = { isApplied: isApplied(revision)(found), other: await this.cluster.client.read(other) };
      seen.push(now);
      if (now.isApplied) return seen;
      if (Date.now() > deadline) throw new Error(`${name} is not Ready with ${revision}:\n${await this.diagnose()}`);
      await pause(200);
    }
  }

  /** Conditions of all Kustomizations and sources, and the ends of the controllers' logs. */
  async diagnose(): Promise<string> {
    const parts = [
      ['get', 'gitrepositories,kustomizations', '-o', 'wide'],
      ['get', 'pods', '-o', 'wide'],
      ['logs', 'deployment/source-controller', '--tail=8'],
      ['logs', 'deployment/kustomize-controller', '--tail=12'],
    ].map((words) =>
      this.cluster.kubectl(['-n', namespace, ...words, '--request-timeout=5s']).then(
        ({ stdout }) => stdout,
        (error: unknown) => (error as Error).message,
      ),
    );
    return (await Promise.all(parts)).join('\n');
  }

  async #request(address: ObjectAddress): Promise<string> {
    this.#requests += 1;
    const value = `request ${this.#requests}`;
    await this.cluster.client.merge(address, { metadata: { annotations: { [requestedAt]: value } } });
    return value;
  }

  async #waitFor(
    address: ObjectAddress,
    expected: (object: PlainObject | undefined) => boolean,
    what: string,
    timeoutMs = 120_000,
  ): Promise<PlainObject | undefined> {
    return this.cluster.waitFor(address, expected, { timeoutMs, what, diagnose: () => this.diagnose() });
  }

  /** What kustomize-controller says that it did each time, by object, oldest first. */
  async #applies(name: string): Promise<readonly Readonly<Record<string, string>>[]> {
    const { stdout } = await this.cluster.kubectl(['-n', namespace, 'logs', 'deployment/kustomize-controller']);
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
    const entries = lines.map((line) => JSON.parse(line) as LogEntry);
    return entries
      .filter(({ msg, Kustomization: of }) => msg === 'server-side apply completed' && of?.name === name)
      .map(({ output = {} }) => output);
  }
}

/** A line of the log of kustomize-controller. */
interface LogEntry {
  readonly msg?: string;
  readonly Kustomization?: { readonly name?: string };
  readonly output?: Readonly<Record<string, string>>;
}

/** Ready, and not about to change. */
function isSettled(object: PlainObject | undefined): boolean {
  const isReconciling = conditionOf(object, 'Reconciling')?.status === 'True';
  const isSeen = statusOf(object).observedGeneration === object?.metadata?.generation;
  return isSeen && !isReconciling && conditionOf(object, 'Ready')?.status === 'True';
}

function isApplied(revision: string): (object: PlainObject | undefined) => boolean {
  return (object) => statusOf(object).lastAppliedRevision === revision && isSettled(object);
}
