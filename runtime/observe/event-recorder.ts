import { createHash } from 'node:crypto';
import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import type { Clock, Timer } from '../clock.ts';
import type { Cluster } from '../client/cluster.ts';
import { ApiError } from '../client/errors.ts';
import type { EventNote, EventSink } from './events.ts';
import type { Logger } from './logger.ts';
import { describe, textOf } from '../cache/object-id.ts';
import type { ObjectMemory } from '../cache/object-memory.ts';
import type { ObjectSlot } from '../cache/object-slot.ts';
import { TokenBucket } from '../queue/token-bucket.ts';

/** Events of the group that replaced core/v1's; `kubectl describe` shows them. */
export const eventKind: KindRef = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

export interface EventRecorderOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Logger;
  /** Name of the program, e.g. `steward.butlerlabs.dev/manager`. */
  readonly controller: string;
  /** Name of this process, e.g. its pod's. */
  readonly instance: string;
  readonly memory: ObjectMemory;
}

/** What is remembered about an object with Events. */
interface Talk {
  readonly bucket: TokenBucket;
  /** Ids of its Events that are still folded. */
  readonly ids: Set<string>;
}

interface Folded {
  /** UID of the object. */
  readonly about: string;
  readonly key: Key;
  count: number;
  /** Count that the server knows. */
  sent: number;
  last: Date;
  timer: Timer | undefined;
  /** The writes of this Event, one after the other. */
  writes: Promise<void>;
}

/** An Event that repeats within this time is counted instead of created again. */
const foldMs = 6 * 60_000;
/** Counts are sent at most this often. */
const countMs = 10_000;
/** As client-go's filter: 25 at once for each object, then one in five minutes. */
const perObject = { burst: 25, perSecond: 1 / 300 };
/** Most Events that are remembered at once. */
const mostRemembered = 4096;
/** In bytes. */
const longestNote = 1024;

/** Writes Events in the background. Equal ones are folded, the rate of each object is limited, and errors are only logged. */
export class EventRecorder implements EventSink {
  readonly #options: EventRecorderOptions;
  readonly #folded = new Map<string, Folded>();
  readonly #talks: ObjectSlot<Talk>;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#talks = options.memory.slot('events', {
      dispose: ({ ids }) => {
        for (const id of ids) this.#unfold(id);
      },
    });
  }

  record(object: Resource, note: EventNote): void {
    const now = this.#options.clock.now();
    const { uid: about } = object.metadata;
    const id = JSON.stringify([about, note.type, note.reason, note.message]);
    const known = this.#folded.get(id);
    if (known !== undefined && now.getTime() - known.last.getTime() < foldMs) {
      this.#repeat(id, known, now);
      return;
    }
    const { clock } = this.#options;
    const talk = this.#talks.getOrMake(about, () => ({ bucket: new TokenBucket(clock, perObject), ids: new Set() }));
    if (!talk.bucket.tryTake()) {
      this.#dropped += 1;
      this.#options.log.debug('too many Events for one object; dropping one', { object: describe(object), ...note });
      return;
    }
    known?.timer?.cancel();
    const manifest = this.#manifestOf(object, note, { id, now });
    const folded: Folded = {
      about,
      key: { namespace: manifest.metadata.namespace ?? 'default', name: manifest.metadata.name },
      count: 1,
      sent: 1,
      last: now,
      timer: undefined,
      writes: Promise.resolve(),
    };
    talk.ids.add(id);
    this.#remember(id, folded);
    this.#write(folded, async () => {
      await this.#options.cluster.create(eventKind, manifest);
    });
  }

  /** Number of Events that were left out because their object had too many. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Sends the counts that wait and resolves when all writes have ended, well or not. */
  async flush(): Promise<void> {
    for (const folded of this.#folded.values()) {
      folded.timer?.cancel();
      this.#sendCount(folded);
    }
    await Promise.all([...this.#folded.values()].map(({ writes }) => writes));
  }

  #repeat(id: string, folded: Folded, now: Date): void {
    folded.count += 1;
    folded.last = now;
    this.#remember(id, folded);
    folded.timer ??= this.#options.clock.after(countMs, () => {
      this.#sendCount(folded);
    });
  }

  #sendCount(folded: Folded): void {
    folded.timer = undefined;
    if (folded.count === folded.sent) return;
    const { count } = folded;
    folded.sent = count;
    const series = { count, lastObservedTime: microTime(folded.last) };
    this.#write(folded, async () => {
      await this.#options.cluster.patch(eventKind, folded.key, { type: 'merge', body: { series } });
    });
  }

  #write(folded: Folded, action: () => Promise<void>): void {
    folded.writes = folded.writes.then(action).catch((error: unknown) => {
      // A lost Event does no harm. In a namespace that is being deleted none can be created, and old ones expire.
      const usual = error instanceof ApiError && (error.code === 403 || error.code === 404);
      this.#options.log[usual ? 'debug' : 'warn']('an Event could not be written', {
        event: textOf(folded.key),
        error,
      });
    });
  }

  /** Keeps the most recently used. */
  #remember(id: string, folded: Folded): void {
    this.#folded.delete(id);
    this.#folded.set(id, folded);
    const [oldest] = this.#folded.size > mostRemembered ? this.#folded : [];
    if (oldest === undefined) return;
    this.#talks.get(oldest[1].about)?.ids.delete(oldest[0]);
    this.#unfold(oldest[0]);
  }

  /** The next Event like this is a new one; the count that waits is sent. */
  #unfold(id: string): void {
    const folded = this.#folded.get(id);
    if (folded === undefined) return;
    this.#folded.delete(id);
    folded.timer?.cancel();
    this.#sendCount(folded);
  }

  #manifestOf(object: Resource, note: EventNote, at: { readonly id: string; readonly now: Date }): Manifest {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const suffix = createHash('sha256').update(`${at.id} ${at.now.getTime()}`).digest('hex').slice(0, 16);
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: `${name.slice(0, 230)}.${suffix}`, namespace: namespace ?? 'default' },
      eventTime: microTime(at.now),
      type: note.type,
      reason: note.reason,
      action: 'Reconcile',
      note: shortened(note.message, longestNote),
      regarding: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
      reportingController: this.#options.controller,
      reportingInstance: this.#options.instance,
    };
  }
}

/** metav1.MicroTime: exactly six digits after the point. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}

/** The text, or as much of its beginning as fits into so many bytes, and an ellipsis. */
function shortened(text: string, mostBytes: number): string {
  if (Buffer.byteLength(text) <= mostBytes) return text;
  const room = new Uint8Array(mostBytes - Buffer.byteLength('…'));
  const { read } = new TextEncoder().encodeInto(text, room);
  return `${text.slice(0, read)}…`;
}
