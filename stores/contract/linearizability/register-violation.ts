import { describeOperation, valueAfter } from './register-operation.ts';
import type { RegisterChange, RegisterOperation, RegisterValue } from './register-operation.ts';

/** Why no order of the calls explains a history. */
export interface RegisterViolation {
  /** The first answer that does not fit: all before it do. */
  readonly operation: RegisterOperation;
  /** What the register may have held at any moment of that call. */
  readonly possible: readonly RegisterValue[];
  /** The calls that explain why: who wrote what it saw, and what was to be seen instead. */
  readonly related: readonly RegisterOperation[];
  /** All of it for people. */
  readonly message: string;
}

const isChange = (operation: RegisterOperation): operation is RegisterChange => operation.is !== 'read';

/** The value that a call must have met; `any` if it fits every one. */
function metBy(operation: RegisterOperation): { readonly value: RegisterValue } | 'any' {
  if (operation.is === 'read') return { value: operation.found };
  return operation.is === 'compare-and-set' ? { value: operation.expected } : 'any';
}

function reasonOf(operation: RegisterOperation, history: readonly RegisterOperation[]): string {
  const met = metBy(operation);
  if (met === 'any' || met.value === undefined) return 'no order of the calls explains it';
  const writer = history.filter(isChange).find((change) => valueAfter(change) === met.value);
  if (writer === undefined) return 'nobody wrote that value';
  if (writer.outcome === 'failed') return 'that value was written by a call that had failed';
  if (writer.start > operation.end) return 'that value was written only later';
  return 'that value had been replaced by then';
}

/** Describes a call that does not fit, by the history that it is a part of. */
export function registerViolation(
  operation: RegisterOperation,
  possible: readonly RegisterValue[],
  history: readonly RegisterOperation[],
): RegisterViolation {
  const met = metBy(operation);
  const values = new Set<RegisterValue>([...possible, ...(met === 'any' ? [] : [met.value])]);
  const related = history.filter((one) => one !== operation && isChange(one) && values.has(valueAfter(one)));
  const lines = [
    `${describeOperation(operation)}: ${reasonOf(operation, history)}`,
    `  possible: ${possible.map((value) => (value === undefined ? 'nothing' : `"${value}"`)).join(', ')}`,
    ...related.map((one) => `  ${describeOperation(one)}`),
  ];
  return { operation, possible, related, message: lines.join('\n') };
}
