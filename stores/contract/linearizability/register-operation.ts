/** What a register holds; undefined when it was never written or was deleted. */
export type RegisterValue = string | undefined;

interface Call {
  /** Who called, for people. A client makes one call after the other. */
  readonly client: string;
  /** When the call began and ended, on one clock that only grows. Calls that touch overlap. */
  readonly start: number;
  readonly end: number;
}

/**
 * What became of a call that changes a register. `failed`: it certainly took no effect. `unknown`: it takes effect once at any
 * moment after its start, also long after its end, or never.
 */
export type ChangeOutcome = 'ok' | 'failed' | 'unknown';

/** A read that was answered; one that was not tells nothing, and is no part of a history. */
export interface RegisterRead extends Call {
  readonly is: 'read';
  readonly found: RegisterValue;
  /** The store is known to answer from an older moment at times: such a read is counted, and no violation. */
  readonly mayBeStale?: boolean;
}

/** Whatever the register holds is replaced. No value is written twice in a history: a read shows which call wrote it. */
export interface RegisterWrite extends Call {
  readonly is: 'write';
  readonly value: string;
  readonly outcome: ChangeOutcome;
}

/**
 * An update or deletion with the resource version of `expected`, or a creation. A refusal is `failed`, which may have other reasons
 * than the value; what it showed is a read of its own.
 */
export interface RegisterCompareAndSet extends Call {
  readonly is: 'compare-and-set';
  readonly expected: RegisterValue;
  readonly value: RegisterValue;
  readonly outcome: ChangeOutcome;
}

/** A deletion without a condition. */
export interface RegisterDelete extends Call {
  readonly is: 'delete';
  readonly outcome: ChangeOutcome;
}

/** A call of a client on one register, which is one key of a tenant. */
export type RegisterOperation = RegisterRead | RegisterWrite | RegisterCompareAndSet | RegisterDelete;

/** A call that may change the register. */
export type RegisterChange = Exclude<RegisterOperation, RegisterRead>;

/** What the register holds after a change took effect. */
export function valueAfter(change: RegisterChange): RegisterValue {
  return change.is === 'delete' ? undefined : change.value;
}

const shown = (value: RegisterValue): string => (value === undefined ? 'nothing' : `"${value}"`);

function callOf(operation: RegisterOperation): string {
  switch (operation.is) {
    case 'read':
      return `read ${shown(operation.found)}`;
    case 'write':
      return `write ${shown(operation.value)}`;
    case 'compare-and-set':
      return `replace ${shown(operation.expected)} by ${shown(operation.value)}`;
    case 'delete':
      return 'delete';
  }
}

/** A line for people. */
export function describeOperation(operation: RegisterOperation): string {
  const outcome = operation.is === 'read' ? '' : ` (${operation.outcome})`;
  return `${operation.client}: ${callOf(operation)}${outcome}, ${operation.start.toFixed(2)} to ${operation.end.toFixed(2)} ms`;
}
