import type { Clock } from '../../runtime/clock.ts';
import type { Driver, IsolationProbe, Session, Tenancy, Tenant } from '../driver.ts';
import type { Attack, Attempt } from './attempt.ts';
import { canaries } from './canaries.ts';
import { inTime } from './in-time.ts';
import { runAttempts } from './run-attempts.ts';
import type { AttemptsResult } from './run-attempts.ts';

/** What a verification found. */
export interface IsolationVerdict {
  /** Attempts that were made, and permissions that were checked. */
  readonly attempts: number;
  /** What the datastore allowed first, to complete "the datastore allows:". */
  readonly breach?: string;
  /** Why the verification proves nothing; only without a breach. */
  readonly unclear?: string;
}

/** What is needed to verify that a datastore isolates tenants. */
export interface VerificationRequest<Config> {
  readonly driver: Driver<Config>;
  readonly config: Config;
  readonly session: Session;
  /** The same in every run for this datastore, and in none for another one: the names of the canary tenancies follow from it. */
  readonly id: string;
  readonly clock: Clock;
  /** Ends the verification between two attempts. */
  readonly signal: AbortSignal;
}

/** Milliseconds after which no more attempts are made; a healthy datastore needs less than two seconds for all of them. */
const longestMs = 20_000;

/** Milliseconds for connecting as a canary, and for what it does with its own data; clients of databases may wait without end. */
const canaryMs = 10_000;

/** How much of a server's message is reported: it becomes part of an object. */
const longestText = 500;

/**
 * Proves that a datastore isolates tenants: makes two canary tenancies, and lets each of them, with its own credentials, attack the other
 * one. It attempts nothing that would change anything but the two tenancies if the datastore allowed it, and ends at the first breach. The
 * canary tenancies are removed at the end, and those of a run that was interrupted at the beginning. Throws `StoreError` when the datastore
 * does not take them. A breach is reported also if it prevents their removal, which the next run tries again.
 */
export async function verifyIsolation<Config>(request: VerificationRequest<Config>): Promise<IsolationVerdict> {
  const { driver, session, id } = request;
  const openings = (await session.openings?.()) ?? [];
  const [opening] = openings;
  if (opening !== undefined) return { attempts: 1, breach: opening };
  const pair = canaries(id, driver.capabilities);
  await removeAll(session, pair);
  let verdict: IsolationVerdict | undefined;
  try {
    for (const tenancy of pair) await session.ensure(tenancy);
    const looked = session.openings === undefined ? 0 : 1;
    const found = await attackEachOther(request, pair);
    verdict = { ...withoutSecrets(found, pair), attempts: found.attempts + looked };
  } finally {
    try {
      await removeAll(session, pair);
    } catch (error) {
      // A canary that has made itself an administrator, for example, may be one that Steward cannot remove.
      if (verdict?.breach === undefined) throw error;
    }
  }
  return verdict;
}

/** Without the passwords that an error might repeat, and not longer than a condition should be. */
function withoutSecrets(verdict: IsolationVerdict, pair: readonly Tenancy[]): IsolationVerdict {
  const clean = (text: string): string => {
    const secrets = pair.flatMap(({ password }) => password ?? []);
    return secrets.reduce((told, secret) => told.replaceAll(secret, '…'), text).slice(0, longestText);
  };
  const { breach, unclear } = verdict;
  return {
    ...verdict,
    ...(breach !== undefined && { breach: clean(breach) }),
    ...(unclear !== undefined && { unclear: clean(unclear) }),
  };
}

async function removeAll(session: Session, tenancies: readonly Tenancy[]): Promise<void> {
  for (const tenancy of tenancies) await session.remove(tenancy);
}

async function attackEachOther<Config>(
  request: VerificationRequest<Config>,
  pair: readonly [Tenancy, Tenancy],
): Promise<IsolationVerdict> {
  const { driver, config } = request;
  const probe = await driver.isolation();
  const [first, second] = await Promise.all(
    pair.map(async (tenancy) => ({ tenancy, tls: await driver.clientTls(config, tenancy, undefined, new Date()) })),
  );
  if (first === undefined || second === undefined) throw new RangeError('there are two canaries');
  // A mistake may be what keeps one of them out, such as one password for both: they attack nevertheless.
  const lost =
    (await inaccessible(probe, config, first, 'write')) ?? (await inaccessible(probe, config, second, 'write'));
  const started = request.clock.monotonic();
  const isLate = (): boolean => request.clock.monotonic() - started > longestMs;
  let attempts = 0;
  for (const [attacker, victim] of [
    [first, second],
    [second, first],
  ] as const) {
    const found = await attack(request, { probe, attacker, victim, isLate });
    attempts += found.attempts;
    const { breaches, unclear } = found;
    if (breaches[0] !== undefined) return { attempts, breach: breaches[0] };
    if (lost === undefined && unclear[0] !== undefined) return { attempts, unclear: unclear[0] };
  }
  request.signal.throwIfAborted();
  if (lost !== undefined) return { attempts, unclear: lost };
  if (isLate()) return { attempts, unclear: `it did not finish within ${longestMs / 1000} s` };
  // Credentials that no longer open anything are refused everywhere, which would prove nothing.
  const late =
    (await inaccessible(probe, config, first, 'read')) ?? (await inaccessible(probe, config, second, 'read'));
  return { attempts, ...(late !== undefined && { unclear: late }) };
}

interface Duel<Config> {
  readonly probe: IsolationProbe<Config>;
  readonly attacker: Tenant;
  readonly victim: Tenant;
  readonly isLate: () => boolean;
}

/** Only attempts that cannot harm other tenants, and none after a breach. */
async function attack<Config>(
  { config, signal }: VerificationRequest<Config>,
  { probe, attacker, victim, isLate }: Duel<Config>,
): Promise<AttemptsResult> {
  signal.throwIfAborted();
  const opening = probe.attack(config, attacker, victim);
  let opened: Attack;
  try {
    opened = await inTime(opening, canaryMs);
  } catch (error) {
    // What is opened too late is closed at once.
    opening.then((late) => closed(late)).catch(() => undefined);
    return { attempts: 0, breaches: [], unclear: [`a canary tenancy cannot be attacked: ${textOf(error)}`] };
  }
  try {
    return await runAttempts(opened, {
      isRefusal: probe.isAnswer,
      chooses: ({ reach }: Attempt) => reach === 'tenants',
      isOver: ({ breaches }) => breaches.length > 0 || signal.aborted || isLate(),
    });
  } finally {
    await closed(opened);
  }
}

/** Whether connections end well says nothing about isolation. */
async function closed(opened: AsyncDisposable): Promise<void> {
  await inTime(Promise.resolve(opened[Symbol.asyncDispose]()), canaryMs).catch(() => undefined);
}

/** Why the credentials of a canary do not open its own tenancy; undefined when they do. */
async function inaccessible<Config>(
  probe: IsolationProbe<Config>,
  config: Config,
  canary: Tenant,
  how: 'write' | 'read',
): Promise<string | undefined> {
  const value = `canary ${canary.tenancy.schema}`;
  const use = async (): Promise<boolean> => {
    await using hand = await probe.connect(config, canary);
    if (how === 'write') await hand.write('a', value);
    return (await hand.read('a')) === value;
  };
  try {
    if (await inTime(use(), canaryMs)) return undefined;
    return 'a canary tenancy did not hold what was written into it';
  } catch (error) {
    return `a canary tenancy cannot be used with its own credentials: ${textOf(error)}`;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
