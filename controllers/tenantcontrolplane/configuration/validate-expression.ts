import { Environment } from '@marcbachmann/cel-js';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';

/** The variables that kube-apiserver has in the expressions of its configuration, and some that it has elsewhere. */
const variables = ['claims', 'user', 'request', 'object', 'oldObject', 'params', 'token'] as const;

/** What kube-apiserver reads and this parser does not: such expressions are left to kube-apiserver. */
const beyond = /`|[{,]\s*\?|(^|[^\w\])"'])\.[A-Za-z]|\w\s*\{/;

/**
 * The validation error of an expression that is no CEL, or that uses the variable of another kind of expression. Types and functions are
 * those of kube-apiserver, which alone checks them.
 */
export function validateExpression(
  field: string,
  value: string | undefined,
  variable: (typeof variables)[number],
): readonly InvalidInput[] {
  if (value === undefined || beyond.test(value)) return [];
  const environment = new Environment({ enableOptionalTypes: true }).registerVariable(variable, 'dyn');
  const { error } = environment.check(value);
  if (error?.name === 'ParseError') {
    const [first = ''] = error.message.split('\n');
    return [{ field, value, reason: `is not a valid CEL expression (${first})`, remedy: 'correct the expression' }];
  }
  const other = /^Unknown variable: (\w+)/.exec(error?.message ?? '')?.[1];
  if (!variables.some((known) => known === other)) return [];
  const reason = `uses the variable ${other ?? ''}, which does not exist here`;
  return [{ field, value, reason, remedy: `use the variable ${variable}` }];
}
