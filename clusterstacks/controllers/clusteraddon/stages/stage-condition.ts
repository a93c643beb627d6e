import { runInNewContext } from 'node:vm';
import { Environment, EvaluationError } from '@marcbachmann/cel-js';
import type { WaitCondition } from '../../../sources/cluster-addon-config.ts';

/** The result of a stage's condition. */
export type ConditionVerdict =
  | { readonly is: 'holds' }
  /** It may hold later: an object or a field is not there, or the expression is false. */
  | { readonly is: 'waits'; readonly message: string }
  /** It can never hold as it is written: only another release helps. */
  | { readonly is: 'broken'; readonly message: string };

/** The objects that were found, by the key that the condition gives them; those that are absent are left out. */
export type ConditionObjects = ReadonlyMap<string, unknown>;

/** What one evaluation may cost. The objects are from a cluster that is not trusted. */
export const conditionLimits = { milliseconds: 250, expression: 10_000, nodes: 2_000, depth: 60 } as const;

/** Evaluations that fail because something is not there yet, or not of the form it will have. */
const notYet = new Set(['no_such_key', 'index_out_of_bounds', 'int_conversion_error', 'no_matching_overload']);

/**
 * Whether a stage's condition holds (CEL, https://github.com/google/cel-spec). What is missing counts as "not yet", and what does
 * not compile as broken. The time is bounded: nested macros over a long list could take for ever.
 */
export function evaluateCondition(condition: WaitCondition, objects: ConditionObjects): ConditionVerdict {
  const compiled = compile(condition);
  if ('message' in compiled) return { is: 'broken', message: compiled.message };
  const missing = condition.objects.filter(({ key }) => !objects.has(key));
  if (missing.length > 0) {
    const names = missing.map(({ kind, namespace, name }) =>
      [kind, [namespace, name].filter(Boolean).join('/')].join(' '),
    );
    return { is: 'waits', message: `${names.join(', ')} ${names.length === 1 ? 'does' : 'do'} not exist yet` };
  }
  const variables = Object.fromEntries([...objects].map(([key, object]) => [key, celValue(object)]));
  return verdictOf(condition.expression, () => compiled.evaluate(variables));
}

/** Why a condition cannot be evaluated at all, as text; undefined when it can. */
export function conditionFault(condition: WaitCondition): string | undefined {
  const compiled = compile(condition);
  return 'message' in compiled ? compiled.message : undefined;
}

type Compiled =
  { readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown } | { readonly message: string };

function compile({ expression, objects }: WaitCondition): Compiled {
  if (expression.length > conditionLimits.expression) {
    return {
      message: `the condition has ${expression.length} characters; at most ${conditionLimits.expression} are allowed`,
    };
  }
  const limits = { maxAstNodes: conditionLimits.nodes, maxDepth: conditionLimits.depth };
  try {
    const environment = new Environment({ limits });
    for (const key of new Set(objects.map(({ key }) => key))) environment.registerVariable(key, 'dyn');
    const parsed = environment.parse(expression);
    const { valid, error, type } = parsed.check();
    if (!valid)
      return { message: `${quoted(expression)} is not a valid condition: ${error?.summary ?? 'it does not compile'}` };
    if (type !== 'bool' && type !== 'dyn') {
      return { message: `${quoted(expression)} is of type ${type ?? 'unknown'}; a condition must be true or false` };
    }
    return { evaluate: (variables) => parsed({ ...variables }) as unknown };
  } catch (error) {
    return { message: `${quoted(expression)} is not a valid condition: ${summaryOf(error)}` };
  }
}

function verdictOf(expression: string, evaluate: () => unknown): ConditionVerdict {
  try {
    const result = withinTime(evaluate);
    if (result === true) return { is: 'holds' };
    if (result === false) return { is: 'waits', message: `${quoted(expression)} is false` };
    return {
      is: 'broken',
      message: `${quoted(expression)} evaluates to type ${typeof result}; a condition must be true or false`,
    };
  } catch (error) {
    if (error instanceof EvaluationError && notYet.has(error.code)) {
      return { is: 'waits', message: `${quoted(expression)} cannot be evaluated yet: ${error.summary}` };
    }
    if (isTimeout(error)) {
      const message = `${quoted(expression)} took longer than ${conditionLimits.milliseconds} ms to evaluate`;
      return { is: 'waits', message };
    }
    return { is: 'broken', message: `${quoted(expression)} cannot be evaluated: ${summaryOf(error)}` };
  }
}

/** Runs `work` here, and stops it when its time is over: a virtual machine's time limit holds for what it calls, too. */
function withinTime(work: () => unknown): unknown {
  return runInNewContext('work()', { work }, { timeout: conditionLimits.milliseconds });
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** JSON as CEL sees it: whole numbers are integers, for which JavaScript has another type. */
function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, celValue(field)]));
}

function quoted(expression: string): string {
  const line = expression.trim().replace(/\s+/g, ' ');
  return `"${line.length > 200 ? `${line.slice(0, 199)}…` : line}"`;
}

function summaryOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'summary' in error && typeof error.summary === 'string') {
    return error.summary;
  }
  return error instanceof Error ? error.message : String(error);
}
