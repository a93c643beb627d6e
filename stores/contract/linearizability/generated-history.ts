import fc from 'fast-check';
import type { ChangeOutcome, RegisterOperation, RegisterValue } from './register-operation.ts';

/** A call before it is known when it takes effect among the others. */
interface Draft {
  readonly client: number;
  readonly is: RegisterOperation['is'];
  /** Milliseconds that the client waits before the call, and that the call takes. */
  readonly waits: number;
  readonly takes: number;
  /** Where in the call its effect is, from 0 to 1. */
  readonly effectAt: number;
  readonly outcome: ChangeOutcome;
  /** An unknown change takes effect so many milliseconds after its start; undefined: never. */
  readonly late: number | undefined;
  /** An update goes by what the client knows, or expects that there is nothing. */
  readonly creates: boolean;
  readonly deletes: boolean;
}

const draft: fc.Arbitrary<Draft> = fc.record({
  client: fc.nat(3),
  is: fc.constantFrom<RegisterOperation['is'][]>(
    'read',
    'read',
    'write',
    'compare-and-set',
    'compare-and-set',
    'delete',
  ),
  waits: fc.nat(10),
  takes: fc.nat(20),
  effectAt: fc.double({ min: 0, max: 1, noNaN: true }),
  outcome: fc.constantFrom<ChangeOutcome[]>('ok', 'ok', 'ok', 'ok', 'failed', 'unknown'),
  late: fc.option(fc.nat(100), { nil: undefined }),
  creates: fc.boolean(),
  deletes: fc.boolean(),
});

type Event = readonly [at: number, run: () => void];

/**
 * Runs calls of several clients on a register that takes them one at a time, and returns what the clients saw, in no order. Such a history is
 * linearizable.
 */
function played(drafts: readonly Draft[]): readonly RegisterOperation[] {
  const history: RegisterOperation[] = [];
  const known = new Map<number, RegisterValue>();
  let held: RegisterValue;
  const events: Event[] = [];
  const free = new Map<number, number>();
  for (const [number, one] of drafts.entries()) {
    const start = (free.get(one.client) ?? 0) + one.waits;
    const end = start + one.takes;
    free.set(one.client, end + 1);
    const call = { client: `client-${one.client}`, start, end };
    const value = `value ${number}`;
    const { is, outcome } = one;
    if (is === 'read') {
      const effect = (): void => {
        history.push({ ...call, is, found: held });
        known.set(one.client, held);
      };
      events.push([start + one.takes * one.effectAt, effect]);
      continue;
    }
    const isNever = outcome === 'failed' || (outcome === 'unknown' && one.late === undefined);
    const at = outcome === 'unknown' ? start + (one.late ?? 0) : start + one.takes * one.effectAt;
    let expected: RegisterValue;
    const next = is === 'delete' || (is === 'compare-and-set' && one.deletes && !one.creates) ? undefined : value;
    events.push([
      start,
      () => {
        expected = one.creates ? undefined : known.get(one.client);
        // Of these two nothing else is to be found out at the moment of the effect.
        if (outcome !== 'ok') history.push(changeOf(call, { is, value, next, expected, outcome }));
      },
    ]);
    const effect = (): void => {
      const isFitting = is !== 'compare-and-set' || held === expected;
      if (outcome === 'ok') {
        history.push(changeOf(call, { is, value, next, expected, outcome: isFitting ? 'ok' : 'failed' }));
        if (!isFitting) history.push({ ...call, is: 'read', found: held });
        known.set(one.client, isFitting ? next : held);
      }
      if (isFitting) held = next;
    };
    if (!isNever) events.push([at, effect]);
  }
  for (const [, run] of events.toSorted(([left], [right]) => left - right)) run();
  return history;
}

function changeOf(
  call: { readonly client: string; readonly start: number; readonly end: number },
  change: {
    readonly is: 'write' | 'compare-and-set' | 'delete';
    readonly value: string;
    readonly next: RegisterValue;
    readonly expected: RegisterValue;
    readonly outcome: ChangeOutcome;
  },
): RegisterOperation {
  const { is, value, next, expected, outcome } = change;
  if (is === 'write') return { ...call, is, value, outcome };
  return is === 'delete' ? { ...call, is, outcome } : { ...call, is, expected, value: next, outcome };
}

/** Histories of a register that takes calls one at a time. */
export const linearHistory = (most: number): fc.Arbitrary<readonly RegisterOperation[]> =>
  fc.array(draft, { maxLength: most }).map(played);

/** Histories of any answers. */
export const anyHistory = (most: number): fc.Arbitrary<readonly RegisterOperation[]> =>
  fc
    .array(
      fc.tuple(draft, fc.nat(20), fc.integer({ min: -1, max: most - 1 }), fc.integer({ min: -1, max: most - 1 })),
      {
        maxLength: most,
      },
    )
    .map((parts) =>
      parts.map(([{ is, takes, outcome, deletes }, start, seen, expectation], number) => {
        const value = (index: number): RegisterValue => (index < 0 ? undefined : `value ${index}`);
        const call = { client: `client-${number}`, start, end: start + takes };
        if (is === 'read') return { ...call, is, found: value(seen) };
        const next = deletes ? undefined : `value ${number}`;
        return changeOf(call, { is, value: `value ${number}`, next, expected: value(expectation), outcome });
      }),
    );
