import { isSelected } from '../../../../api/core/label-selector.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';

/** Where a tenant comes from. */
export interface Origin {
  readonly namespace: string;
  /** Labels of the namespace; undefined where nobody has read them. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** True when it takes the labels of the namespace to say whether the DataStore takes its tenants. */
export function needsLabels({ spec }: DataStore, namespace: string): boolean {
  const { names = [], selector } = spec.allowedNamespaces ?? {};
  return selector !== undefined && !names.includes(namespace);
}

/** Why a DataStore takes no tenants of a namespace, as the end of a sentence; undefined when it takes them. */
export function namespaceRefusal({ spec }: DataStore, { namespace, labels }: Origin): string | undefined {
  const { allowedNamespaces } = spec;
  if (allowedNamespaces === undefined) return undefined;
  const { names = [], selector } = allowedNamespaces;
  if (names.includes(namespace)) return undefined;
  if (selector !== undefined && labels !== undefined && isSelected(labels, selector)) return undefined;
  return `takes no tenants of namespace ${namespace}`;
}

/** What helps a tenant that a DataStore does not take. */
export const refusalRemedy =
  'name another DataStore, or ask whoever is in charge of this one to add the namespace to its spec.allowedNamespaces';
