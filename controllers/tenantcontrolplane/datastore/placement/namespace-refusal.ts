import { isSelected } from '../../../../api/core/label-selector.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';

/** Where a tenant comes from. */
export interface Origin {
  readonly namespace: string;
  /** Labels of the namespace; undefined if they were not read. */
  readonly labels: Readonly<Record<string, string>> | undefined;
}

/** True when the labels of the namespace decide whether the DataStore accepts its tenants. */
export function needsLabels({ spec }: DataStore, namespace: string): boolean {
  const { names = [], selector } = spec.allowedNamespaces ?? {};
  return selector !== undefined && !names.includes(namespace);
}

/** Why a DataStore does not accept tenants from a namespace, as the end of a sentence; undefined when it does. */
export function namespaceRefusal({ spec }: DataStore, { namespace, labels }: Origin): string | undefined {
  const { allowedNamespaces } = spec;
  if (allowedNamespaces === undefined) return undefined;
  const { names = [], selector } = allowedNamespaces;
  if (names.includes(namespace)) return undefined;
  if (selector !== undefined && labels !== undefined && isSelected(labels, selector)) return undefined;
  return `accepts no tenants from namespace ${namespace}`;
}

/** What to do if a DataStore does not accept a tenant. */
export const refusalRemedy =
  'use another DataStore, or ask the operator to add the namespace to the spec.allowedNamespaces of this one';
