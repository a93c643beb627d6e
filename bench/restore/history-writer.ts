import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import type { ApiConnection } from '../../e2e/cluster/api-connection.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { foundObject } from './found-objects.ts';
import type { HistoryWrite } from './written-history.ts';

/** Keys that are written in turn. No two writes of a key are under way at once. */
const lanes = 64;

/** A key is created, overwritten so often, and deleted. */
const overwrites = 3;

/** A key and its next write. */
interface Lane {
  readonly number: number;
  /** Another one after a failure: nobody knows what became of the write. */
  generation: number;
  step: number;
}

/** Creates, overwrites and deletes ConfigMaps at a steady rate, and records each write. */
export class HistoryWriter {
  readonly #connection: ApiConnection;
  readonly #namespace: string;
  readonly #perSecond: number;
  readonly #stop = new AbortController();
  readonly #writes: HistoryWrite[] = [];
  readonly #idle: Lane[] = Array.from({ length: lanes }, (_, number) => ({ number, generation: 0, step: 0 }));

  constructor(connection: ApiConnection, { namespace, perSecond }: { namespace: string; perSecond: number }) {
    this.#connection = connection;
    this.#namespace = namespace;
    this.#perSecond = perSecond;
  }

  /** Ends the writing: those under way are waited for. */
  stop(): void {
    this.#stop.abort();
  }

  /** Writes until it is stopped, and resolves with everything that was written. A write for which every key is busy is left out. */
  async write(): Promise<readonly HistoryWrite[]> {
    const underWay = new Set<Promise<void>>();
    const began = performance.now();
    for (let count = 1; !this.#stop.signal.aborted; count += 1) {
      const lane = this.#idle.shift();
      if (lane !== undefined) {
        const written = this.#next(lane).finally(() => underWay.delete(written));
        underWay.add(written);
      }
      const due = began + (count * 1000) / this.#perSecond;
      await pause(Math.max(due - performance.now(), 0), undefined, { signal: this.#stop.signal }).catch(
        () => undefined /* aborted */,
      );
    }
    await Promise.all(underWay);
    return this.#writes;
  }

  async #next(lane: Lane): Promise<void> {
    const key = `written-${lane.number}-${lane.generation}`;
    const at = lane.step % (overwrites + 2);
    const is = at === 0 ? 'create' : at <= overwrites ? 'overwrite' : 'delete';
    const body = is === 'delete' ? undefined : bodyOf(key, lane.step);
    const write = { key, is, ...(body !== undefined && { body }), begunAt: Date.now() } as const;
    const answer = await this.#send(write).catch((error: unknown) => (error as Error).message);
    if (typeof answer === 'string') {
      this.#writes.push({ ...write, failure: answer });
      lane.generation += 1;
      lane.step = 0;
    } else {
      const acknowledgedAt = Date.now();
      const { metadata } = answer as { readonly metadata?: { readonly resourceVersion?: string } };
      this.#writes.push({
        ...{ ...write, acknowledgedAt, resourceVersion: metadata?.resourceVersion },
        ...(is !== 'delete' && { text: foundObject(answer).text }),
      });
      lane.step += 1;
    }
    this.#idle.push(lane);
  }

  #send({ key, is, body }: Pick<HistoryWrite, 'key' | 'is' | 'body'>): Promise<PlainObject> {
    const path = `/api/v1/namespaces/${this.#namespace}/configmaps`;
    const object = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key, namespace: this.#namespace } },
      data: { text: body },
    };
    if (is === 'create') return this.#connection.send({ method: 'POST', path, body: object });
    if (is === 'overwrite') return this.#connection.send({ method: 'PUT', path: `${path}/${key}`, body: object });
    return this.#connection.send({ method: 'DELETE', path: `${path}/${key}` });
  }
}

/** A text that no other write has, of 200 to 2200 characters that no datastore can compress. */
function bodyOf(key: string, step: number): string {
  const [size = 0] = randomBytes(1);
  return `${key} ${step} ${randomBytes(150 + size * 6).toString('base64')}`;
}
