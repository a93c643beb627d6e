import type { CoreTypes } from './core-schema.ts';

type Labels = Readonly<Record<string, string>>;
type Selector = CoreTypes['LabelSelector'];
type Requirement = NonNullable<Selector['matchExpressions']>[number];

/**
 * True if the labels match every requirement of the selector. An empty selector matches everything. An invalid
 * requirement matches nothing
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors).
 */
export function isSelected(labels: Labels, { matchLabels = {}, matchExpressions = [] }: Selector): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((requirement) => isFulfilled(labels, requirement))
  );
}

/** Why a requirement is invalid although it matches the schema of selectors; undefined if it is valid. */
export function requirementProblem({ operator, values = [] }: Requirement): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? undefined : `has operator ${operator} but no values`;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? undefined : `has operator ${operator}, which takes no values, but has values`;
    default:
      return `has operator ${operator}, which is not one of In, NotIn, Exists and DoesNotExist`;
  }
}

/** A selector in the syntax of `kubectl get --selector`. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.join(',')})`;
  });
  return [...Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`), ...expressions].join(',');
}

function isFulfilled(labels: Labels, requirement: Requirement): boolean {
  if (requirementProblem(requirement) !== undefined) return false;
  const value = labelOf(labels, requirement.key);
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values?.includes(value) === true;
    case 'NotIn':
      return value === undefined || requirement.values?.includes(value) !== true;
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}

/** The value of a label. Ignores inherited properties such as `constructor`. */
function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
