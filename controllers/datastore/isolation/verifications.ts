import { createHash } from 'node:crypto';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Context, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { ProbedStore } from '../dependencies.ts';
import { isGivenUp, isolationEvent, isVerdictOn, lastVerification, withIsolation } from './isolation-status.ts';
import type { IsolationFinding } from './isolation-status.ts';

/** Until the next check whether the verification of another datastore is done, in milliseconds. */
const busyMs = 250;

const firstRetryMs = 5_000;
const lastRetryMs = 5 * 60_000;

/** How often in a row a verification may fail before an earlier verdict no longer counts. */
const passingFailures = 3;
/** How often in a row the first verification may fail before new tenants are accepted without one: about half a minute. */
const patience = 2;

/** How far the interval of one datastore may differ from the configured one, as a part of it. */
const jitter = 0.1;

interface Known {
  /** What was verified: configuration, spec and version. */
  readonly subject: string;
  /** Failed verifications in a row, and why the last one failed. */
  readonly inconclusive: number;
  readonly message: string;
  /** Verifications in a row that found no isolation, for whatever reason. */
  readonly repeats: number;
  /** On the monotonic clock. Not from the status, which may not have arrived, or which an older CRD does not store. */
  readonly due: number;
}

/** A verdict, or that there is none to have, whose status has not been written yet. */
interface Unwritten {
  readonly subject: string;
  readonly finding: IsolationFinding;
  /** When it was found. */
  readonly now: Date;
}

/** The result of a reconcile with what is known of the isolation. */
type VerifiedResult = ReconcileResult<DataStore> & { readonly status: DataStoreStatus; readonly afterMs: number };

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
 * restart of the manager repeats none. After a breach or a failure the next one follows soon: a hole is noticed to be closed, and what was
 * open only while something changed is not held against the datastore for long.
 */
export class Verifications {
  readonly #options: VerificationsOptions;
  readonly #known: ObjectSlot<Known>;
  readonly #unwritten: ObjectSlot<Unwritten>;
  #isBusy = false;

  constructor(options: VerificationsOptions) {
    this.#options = options;
    this.#known = options.memory.slot('verifications of isolation');
    this.#unwritten = options.memory.slot('unwritten verdicts on isolation');
  }

  /** Adds a verification, if one is due, to the result of a reconcile in which the datastore could be used. */
  async after(
    store: DataStore,
    { status, afterMs }: { readonly status: DataStoreStatus; readonly afterMs: number },
    { open, ctx }: { readonly open: () => Promise<ProbedStore>; readonly ctx: Context },
  ): Promise<VerifiedResult> {
    const { now } = ctx;
    const kept = { status: withIsolation(store, status, { finding: this.#remembered(store, status), now }), afterMs };
    const opened = isReachable(status) ? await openedOrNot(open) : undefined;
    if (opened === undefined) return kept;
    if (!this.#isDue(store, status, opened, now)) return this.#again(store, { status, afterMs, opened }) ?? kept;
    if (this.#isBusy) return { ...kept, afterMs: Math.min(busyMs, afterMs) };
    let found: IsolationFinding;
    try {
      found = await this.#find(store, status, { opened, ctx });
    } catch (error) {
      // The time of the reconcile is over: the next one reports the result, and does not begin another verification.
      const message = 'it did not finish within the time of a reconcile';
      this.#note(store, status, { opened, finding: { is: 'inconclusive', message } });
      throw error;
    }
    const pause = this.#note(store, status, { opened, finding: found });
    const finding = this.#told(store, status, found);
    if (found.is === 'inconclusive') this.#unwritten.delete(store.metadata.uid);
    else this.#unwritten.set(store.metadata.uid, { subject: subjectOf(store, status, opened), finding: found, now });
    const result = withIsolation(store, status, { finding, now });
    const event = isolationEvent(store.status, result);
    if (event !== undefined) ctx.event(...event);
    return { status: result, afterMs: Math.min(afterMs, pause), stored: this.#untilWritten(store) };
  }

  /** The verdict that the API server has not taken: no other verification may follow for hours. */
  #again(
    store: DataStore,
    {
      status,
      afterMs,
      opened,
    }: { readonly status: DataStoreStatus; readonly afterMs: number; readonly opened: ProbedStore },
  ): VerifiedResult | undefined {
    const unwritten = this.#unwritten.get(store.metadata.uid);
    if (unwritten?.subject !== subjectOf(store, status, opened)) return undefined;
    return { status: withIsolation(store, status, unwritten), afterMs, stored: this.#untilWritten(store) };
  }

  #untilWritten({ metadata: { uid } }: DataStore): () => void {
    return () => {
      this.#unwritten.delete(uid);
    };
  }

  /** Also below the supported version: then the verification shows what that version allows. */
  async #find(
    store: DataStore,
    { serverVersion = '' }: DataStoreStatus,
    { opened, ctx }: { readonly opened: ProbedStore; readonly ctx: Context },
  ): Promise<IsolationFinding> {
    if (opened.capabilities.servesOneTenant(store.spec)) return { is: 'shared credentials' };
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
      if (ctx.signal.aborted) throw error;
      if (error instanceof StoreError) return { is: 'inconclusive', message: error.message };
      // The reason in the status is more specific than this one.
      ctx.log.error('the verification of isolation failed', { error });
      return { is: 'inconclusive', message: 'the verification failed; the log of the manager says why' };
    } finally {
      this.#isBusy = false;
    }
  }

  #isDue(store: DataStore, status: DataStoreStatus, opened: ProbedStore, now: Date): boolean {
    const known = this.#known.get(store.metadata.uid);
    if (known !== undefined)
      return known.subject !== subjectOf(store, status, opened) || this.#options.clock.monotonic() >= known.due;
    const last = lastVerification(store, status.serverVersion);
    if (last === undefined || last.breach !== undefined) return true;
    const { intervalMs } = this.#options;
    return intervalMs > 0 && now.getTime() - Date.parse(last.time) >= spread(intervalMs, store.metadata.uid);
  }

  /** A verdict stands while the next verification fails a few times for a reason that may pass, and a breach until one succeeds. */
  #isPassing(store: DataStore, { serverVersion }: DataStoreStatus, finding: IsolationFinding): boolean {
    if (finding.is !== 'inconclusive' || !isVerdictOn(store, serverVersion)) return false;
    if (store.status?.isolation?.breach !== undefined) return true;
    return (this.#known.get(store.metadata.uid)?.inconclusive ?? 0) <= passingFailures;
  }

  /** The first failures are reported as a verification that is still pending. */
  #told(store: DataStore, status: DataStoreStatus, finding: IsolationFinding): IsolationFinding | undefined {
    if (this.#isPassing(store, status, finding)) return undefined;
    if (finding.is !== 'inconclusive' || isGivenUp(store)) return finding;
    const { inconclusive = 0 } = this.#known.get(store.metadata.uid) ?? {};
    return inconclusive > patience ? finding : { ...finding, is: 'failing' };
  }

  /** The last failure, whose reconcile may have ended before it was reported. */
  #remembered(store: DataStore, status: DataStoreStatus): IsolationFinding | undefined {
    const { inconclusive = 0, message = '' } = this.#known.get(store.metadata.uid) ?? {};
    return inconclusive === 0 ? undefined : this.#told(store, status, { is: 'inconclusive', message });
  }

  /** Remembers the result, and says when the next verification is due. */
  #note(
    store: DataStore,
    status: DataStoreStatus,
    { opened, finding }: { readonly opened: ProbedStore; readonly finding: IsolationFinding },
  ): number {
    const { uid } = store.metadata;
    const subject = subjectOf(store, status, opened);
    const before = this.#known.get(uid);
    const same = before?.subject === subject ? before : undefined;
    const isFailure = finding.is === 'inconclusive';
    const message = finding.is === 'inconclusive' ? finding.message : '';
    const inconclusive = isFailure ? (same?.inconclusive ?? 0) + 1 : 0;
    const repeats = isFailure || finding.is === 'breached' ? (same?.repeats ?? 0) + 1 : 0;
    const pause = this.#pause(uid, finding, repeats);
    this.#known.set(uid, { subject, inconclusive, message, repeats, due: this.#options.clock.monotonic() + pause });
    return pause;
  }

  #pause(uid: string, finding: IsolationFinding, repeats: number): number {
    if (repeats > 0) return Math.min(firstRetryMs * 2 ** (repeats - 1), lastRetryMs);
    const { intervalMs } = this.#options;
    // Where credentials are shared, nothing but the spec can change anything.
    return finding.is === 'shared credentials' || intervalMs === 0 ? Infinity : spread(intervalMs, uid);
  }
}

function subjectOf(
  { metadata }: DataStore,
  { serverVersion = '' }: DataStoreStatus,
  { checksum }: ProbedStore,
): string {
  return JSON.stringify([checksum, metadata.generation, serverVersion]);
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
