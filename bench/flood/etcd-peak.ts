import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { FloodRow } from './flood-rows.ts';
import { pauseUnlessOver } from '../pause-unless-over.ts';

const everyMs = 3000;

const firstMember = { apiVersion: 'v1', kind: 'Pod', namespace: 'steward-system', name: 'etcd-0' };

/** The most that etcd uses while this exists, as its metrics say: connections are open files. */
export class EtcdPeak implements AsyncDisposable {
  readonly #cluster: ManagementCluster;
  readonly #sampling: Promise<void>;
  readonly #over = new AbortController();
  #files = 0;
  #bytes = 0;

  constructor(cluster: ManagementCluster) {
    this.#cluster = cluster;
    this.#sampling = this.#sample();
  }

  /** Ends the sampling. @throws Error when etcd never answered. */
  async end(): Promise<Required<Pick<FloodRow, 'mostFiles' | 'mostMemoryMiB'>>> {
    await this[Symbol.asyncDispose]();
    if (this.#files === 0) throw new Error('etcd did not answer with its metrics.');
    return { mostFiles: this.#files, mostMemoryMiB: Math.round(this.#bytes / 2 ** 20) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#sampling;
  }

  async #sample(): Promise<void> {
    const pod = await this.#cluster.client.read(firstMember);
    const url = `http://${String(pod?.status?.podIP)}:2381/metrics`;
    while (!this.#over.signal.aborted) {
      // One that is too busy to answer is asked again.
      const text = await this.#cluster.exec(['curl', '--silent', '--max-time', '10', url]).then(
        ({ stdout }) => stdout,
        () => '',
      );
      this.#files = Math.max(this.#files, valueOf(text, 'process_open_fds'));
      this.#bytes = Math.max(this.#bytes, valueOf(text, 'process_resident_memory_bytes'));
      await pauseUnlessOver(everyMs, this.#over.signal);
    }
  }
}

/** 0 for one that is not there. */
function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0);
}
