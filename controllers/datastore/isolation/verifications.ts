import { createHash } from 'node:crypto';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Context, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { ProbedStore } from '../dependencies.ts';
import { isolationEvent, lastVerification, withIsolation } from './isolation-status.ts';
import type { IsolationFinding } from './isolation-status.ts';

/** Until it is looked again whether the verification of another datastore is done, in milliseconds. */
const busyMs = 250;

const firstRetryMs = 5_000;
const lastRetryMs = 5 * 60_000;

/** How often in a row a verification may fail before an earlier verdict no longer counts. */
const passingFailures = 3;

/** How far the interval of one datastore may differ from the configured one, as a part of it. */
const jitter = 0.1;

interface Known {
  /** Of the configuration that was verified. */
  readonly checksum: string;
  readonly inconclusive: number;
  /** On the monotonic clock; undefined after a result, whose time is in the status. */
  readonly due: number | undefined;
}

/** How datastores are verified. */
export interface VerificationsOptions {
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  /** Milliseconds between two verifications of a datastore; 0 for none but the first and those after a change. */
  readonly intervalMs: number;
  /** Namespace of the manager's tenants: managers of different namespaces verify a datastore without meeting each other. */
  readonly namespace: string;
}

/**
 * Verifies that datastores isolate tenants: each when it was added, when its server has another version, when its spec or its credentials
 * changed, and every `intervalMs`, more or less; one datastore at a time. The time of the last verification is in the status, so that a
 * restart of the manager repeats none.
 */
export class Verifications {
  readonly #options: VerificationsOptions;
  readonly #known: ObjectSlot<Known>;
  #isBusy = false;

  constructor(options: VerificationsOptions) {
    this.#options = options;
    this.#known = options.memory.slot('verifications of isolation');
  }

  /** Adds a verification, if one is due, to the result of a reconcile in which the datastore could be used. */
  async after(
    store: DataStore,
    { status, afterMs }: { readonly status: DataStoreStatus; readonly afterMs: number },
    { open, ctx }: { readonly open: () => Promise<ProbedStore>; readonly ctx: Context },
  ): Promise<ReconcileResult<DataStore> & { readonly status: DataStoreStatus; readonly afterMs: number }> {
    const { now } = ctx;
    const kept = { status: withIsolation(store, status, { finding: undefined, now }), afterMs };
    const opened = isReachable(status) ? await openedOrNot(open) : undefined;
    if (opened === undefined || !this.#isDue(store, status, opened, now)) return kept;
    if (this.#isBusy) return { ...kept, afterMs: Math.min(busyMs, afterMs) };
    const found = await this.#find(store, status, { opened, ctx });
    const pause = this.#note(store, opened, found);
    const result = withIsolation(store, status, {
      finding: this.#isPassing(store, status, found) ? undefined : found,
      now,
    });
    const event = isolationEvent(store.status, result);
    if (event !== undefined) ctx.event(...event);
    return { status: result, afterMs: Math.min(afterMs, pause) };
  }

  /** Also below the supported version: then the verification shows what that version allows. */
  async #find(
    store: DataStore,
    { serverVersion = '' }: DataStoreStatus,
    { opened, ctx }: { readonly opened: ProbedStore; readonly ctx: Context },
  ): Promise<IsolationFinding> {
    if (opened.capabilities.servesOneTenant(store.spec)) return { is: 'shared login' };
    this.#isBusy = true;
    try {
      const { clock, namespace } = this.#options;
      const id = createHash('sha256').update(`${store.metadata.uid}/${namespace}`).digest('hex').slice(0, 32);
      const { attempts, breach, unclear } = await opened.verifyIsolation({ id, clock, signal: ctx.signal });
      if (breach !== undefined) return { is: 'breached', attempts, serverVersion, breach };
      return unclear === undefined
        ? { is: 'isolated', attempts, serverVersion }
        : { is: 'inconclusive', message: unclear };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return { is: 'inconclusive', message: error.message };
    } finally {
      this.#isBusy = false;
    }
  }

  #isDue(store: DataStore, status: DataStoreStatus, { checksum }: ProbedStore, now: Date): boolean {
    const known = this.#known.get(store.metadata.uid);
    if (known !== undefined && known.checksum !== checksum) return true;
    if (known?.due !== undefined) return this.#options.clock.monotonic() >= known.due;
    const last = lastVerification(store, status.serverVersion);
    if (last === undefined) return true;
    const { intervalMs } = this.#options;
    return intervalMs > 0 && now.getTime() - Date.parse(last.time) >= spread(intervalMs, store.metadata.uid);
  }

  /** A verdict stands while the next verification fails a few times for a reason that may pass. */
  #isPassing(store: DataStore, { serverVersion }: DataStoreStatus, finding: IsolationFinding): boolean {
    if (finding.is !== 'inconclusive' || lastVerification(store, serverVersion) === undefined) return false;
    return (this.#known.get(store.metadata.uid)?.inconclusive ?? 0) <= passingFailures;
  }

  /** Remembers the result, and says when a retry is due. */
  #note(store: DataStore, { checksum }: ProbedStore, finding: IsolationFinding): number {
    const { uid } = store.metadata;
    const before = this.#known.get(uid);
    if (finding.is === 'shared login') {
      // Nothing but the spec can change that, and the spec is looked at again with the checksum.
      this.#known.set(uid, { checksum, inconclusive: 0, due: Infinity });
      return Infinity;
    }
    if (finding.is !== 'inconclusive') {
      this.#known.set(uid, { checksum, inconclusive: 0, due: undefined });
      return Infinity;
    }
    const inconclusive = (before?.inconclusive ?? 0) + 1;
    const pause = Math.min(firstRetryMs * 2 ** (inconclusive - 1), lastRetryMs);
    this.#known.set(uid, { checksum, inconclusive, due: this.#options.clock.monotonic() + pause });
    return pause;
  }
}

async function openedOrNot(open: () => Promise<ProbedStore>): Promise<ProbedStore | undefined> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

function isReachable(status: DataStoreStatus): boolean {
  const isTrue = (type: string): boolean =>
    status.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  return isTrue('Reachable') && isTrue('Authorized');
}

/** The interval of one object: always the same for it, and spread over a tenth more or less for many. */
function spread(intervalMs: number, uid: string): number {
  const part = createHash('sha256').update(uid).digest().readUInt32BE() / 2 ** 32;
  return intervalMs * (1 - jitter + 2 * jitter * part);
}
