import { toDo } from './remedy.ts';

/** What to do about the condition that every kind has while its CustomResourceDefinition is older than the manager. */
export const definitionOutdatedRemedies = {
  FieldsLost: toDo(
    "Apply the CustomResourceDefinitions of the manager's version.",
    'kubectl apply --server-side -k config/crd',
  ),
} as const;
