import type { Socket } from 'node:net';
import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import { deadline } from '../../runtime/deadline.ts';
import type { CallerAddresses } from './caller-addresses.ts';
import type { ConnectionPlaces } from './connection-places.ts';
import { HeldConnection } from './held-connection.ts';
import type { HelloEnd } from './held-connection.ts';
import { dial, passThrough } from './pass-through.ts';
import type { ReadyPods } from './ready-pods.ts';
import type { StartingPods } from './starting-pods.ts';
import type { WakeRequests } from './wake-requests.ts';

/** What became of a connection. */
export type CallOutcome =
  | 'Passed'
  /** There are too many, or a place was needed for another one. */
  | 'Full'
  /** It is one of those that do not wake a tenant. */
  | 'Background'
  /** The tenant was not ready in time. */
  | 'NotReady'
  /** The tenant is awake, and its calls do not lead here. */
  | 'NotLed'
  | Exclude<HelloEnd, 'Complete'>;

/** A tenant for which connections arrive. */
export interface CalledTenant {
  /** `namespace/name`. */
  readonly key: string;
  /** Callers that do not wake it: its nodes, unless it wants that. */
  readonly background: Pick<CallerAddresses, 'has'>;
  /** True while its calls lead to the activator, and for a while afterwards. */
  readonly isLed: () => boolean;
}

/** What became of a connection. */
export interface CallEnd {
  readonly outcome: CallOutcome;
  /** The time from its acceptance, in milliseconds. */
  readonly waitedMs: number;
  /** Its caller had to wait, because no pod was ready. */
  readonly isHeld: boolean;
}

/** How long things may take, in milliseconds. */
export interface ActivatorTimes {
  /** Until the hello of a caller has arrived. */
  readonly helloMs: number;
  /** Until a tenant that was requested to wake up is ready. */
  readonly readyMs: number;
  /** Until one pod accepts a connection. */
  readonly dialMs: number;
  /** Until a connection is closed of which one side has ended, and the other one has neither ended nor said anything. */
  readonly lingerMs: number;
}

/**
 * Linger: whoever still reads an answer to its end does so within seconds, also over a slow line: 64 KiB at 6 KiB a second. An API server
 * ends a connection whose handshake is not completed after 30 seconds; a caller who ignores that has the place for 10 more.
 */
export const activatorTimes: ActivatorTimes = { helloMs: 3_000, readyMs: 30_000, dialMs: 1_000, lingerMs: 10_000 };

export interface ActivatorOptions {
  readonly clock: Clock;
  readonly places: ConnectionPlaces;
  readonly pods: Pick<ReadyPods, 'of' | 'until'>;
  readonly wakes: Pick<WakeRequests, 'want'>;
  readonly starting: Pick<StartingPods, 'want'>;
  /** Callers that wake no tenant. */
  readonly background: Pick<CallerAddresses, 'has'>;
  readonly times?: ActivatorTimes;
  /** Called when a connection is passed on, or refused. */
  readonly ended?: (end: CallEnd) => void;
  /** Called when a connection that was passed on is ended, because its place is needed for another one. */
  readonly displaced?: () => void;
}

/** No pod of a tenant that is ready accepted a connection: tried again after so many milliseconds. */
const againMs = 100;

/**
 * Answers at the endpoints of tenants that sleep: holds connections that begin with a ClientHello, requests that the tenant wakes up, and
 * passes all bytes on to a pod as soon as the API server of one is. It has no key, so that it sees nothing but the hello.
 */
export class Activator {
  readonly #options: ActivatorOptions;
  readonly #times: ActivatorTimes;
  #held = 0;

  constructor(options: ActivatorOptions) {
    this.#options = options;
    this.#times = options.times ?? activatorTimes;
  }

  /** Callers who have said hello and wait for their tenants now. */
  get held(): number {
    return this.#held;
  }

  /** Serves one connection, which must not have been read. Resolves when it is over, whatever the caller does. */
  async serve(socket: Socket, tenant: CalledTenant): Promise<void> {
    const { clock, places, ended, displaced } = this.#options;
    const began = clock.monotonic();
    const tell = (outcome: CallOutcome, isHeld = false): void =>
      ended?.({ outcome, waitedMs: clock.monotonic() - began, isHeld });
    const evicted: { is: boolean } = { is: false };
    const place = places.take(tenant.key, socket.remoteAddress, () => {
      evicted.is = true;
      socket.destroy();
    });
    // The close that follows is what counts.
    socket.on('error', () => socket.destroy());
    if (place === undefined) {
      socket.resetAndDestroy();
      tell('Full');
      return;
    }
    const held = new HeldConnection(socket, { clock, helloMs: this.#times.helloMs });
    try {
      const hello = await held.hello;
      if (hello !== 'Complete') {
        tell(evicted.is ? 'Full' : hello);
        return;
      }
      place.settle();
      const isHeld = this.#options.pods.of(tenant.key).length === 0;
      const server = await this.#server(held, tenant, socket.remoteAddress);
      if (typeof server === 'string') {
        tell(evicted.is ? 'Full' : server, isHeld);
        return;
      }
      place.pass();
      tell('Passed', isHeld);
      await passThrough(socket, server, held.release(), { clock, lingerMs: this.#times.lingerMs });
      if (evicted.is) displaced?.();
    } finally {
      held.destroy();
      place.leave();
    }
  }

  /** A connection to the tenant, or why there is none. */
  async #server(
    held: HeldConnection,
    tenant: CalledTenant,
    peer: string | undefined,
  ): Promise<Socket | 'Background' | 'Gone' | 'NotLed' | 'NotReady'> {
    const { clock, pods, wakes, starting, background } = this.#options;
    const isBackground = background.has(peer) || tenant.background.has(peer);
    const limit = deadline(clock, this.#times.readyMs, [held.gone]);
    const { signal } = limit;
    let ends: readonly (() => void)[] | undefined;
    this.#held += 1;
    try {
      for (;;) {
        const isAwake = pods.of(tenant.key).length > 0;
        if (!isAwake && isBackground) return 'Background';
        if (!isAwake) ends ??= [wakes.want(tenant.key, peer), starting.want(tenant.key)];
        const addresses = await pods.until(tenant.key, signal);
        // Not before: news of a tenant that has just fallen asleep may be late.
        if (!tenant.isLed()) return 'NotLed';
        const server = await dial(addresses, { clock, dialMs: this.#times.dialMs, signal });
        if (server !== undefined) return server;
        await sleep(clock, againMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return held.gone.aborted ? 'Gone' : 'NotReady';
    } finally {
      this.#held -= 1;
      for (const end of ends ?? []) end();
      limit.release();
    }
  }
}
