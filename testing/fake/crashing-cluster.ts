import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import type {
  Cluster,
  DeleteOptions,
  ListOf,
  ListOptions,
  Patch,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  ApplyOptions,
} from '../../runtime/client/cluster.ts';
import { CrashError } from './fake-faults.ts';

/** A client of a real API server for a process that dies: after the given number of calls nothing arrives any more. */
export class MortalCluster implements Cluster {
  readonly name: string;
  readonly #cluster: Cluster;
  #left = Infinity;
  /** Calls that had an effect. */
  calls = 0;

  constructor(cluster: Cluster) {
    this.name = cluster.name;
    this.#cluster = cluster;
  }

  get crashed(): boolean {
    return this.#left <= 0;
  }

  /** The last of `calls` more calls takes effect, but its answer never arrives. */
  crashAfter(calls: number): void {
    this.#left = calls;
  }

  restart(): void {
    this.#left = Infinity;
  }

  get<T extends Resource>(kind: KindRef<T>, key: Key, options?: ReadOptions): Promise<T | undefined> {
    return this.#call(() => this.#cluster.get(kind, key, options));
  }
  list<T extends Resource>(kind: KindRef<T>, options?: ListOptions): Promise<ListOf<T>> {
    return this.#call(() => this.#cluster.list(kind, options));
  }
  watch<T extends Resource>(kind: KindRef<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    return this.#cluster.watch(kind, options);
  }
  create<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options?: WriteOptions): Promise<T> {
    return this.#call(() => this.#cluster.create(kind, manifest, options));
  }
  apply<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: ApplyOptions): Promise<T> {
    return this.#call(() => this.#cluster.apply(kind, manifest, options));
  }
  patch<T extends Resource>(kind: KindRef<T>, key: Key, patch: Patch, options?: WriteOptions): Promise<T> {
    return this.#call(() => this.#cluster.patch(kind, key, patch, options));
  }
  delete(kind: KindRef, key: Key, options?: DeleteOptions): Promise<boolean> {
    return this.#call(() => this.#cluster.delete(kind, key, options));
  }
  text(path: string, options?: ReadOptions): Promise<string> {
    return this.#call(() => this.#cluster.text(path, options));
  }
  lastContact(): number | undefined {
    return this.#cluster.lastContact();
  }
  close(): Promise<void> {
    return this.#cluster.close();
  }

  async #call<R>(work: () => Promise<R>): Promise<R> {
    if (this.crashed) throw new CrashError('the process is dead');
    this.#left -= 1;
    const isLast = this.#left === 0;
    const answer = await work();
    this.calls += 1;
    if (isLast) throw new CrashError('the process died before the answer');
    return answer;
  }
}
