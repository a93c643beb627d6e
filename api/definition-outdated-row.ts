import type { ConditionRow } from './condition-row.ts';

/** The condition that every kind has while its CustomResourceDefinition is older than the manager. */
export const definitionOutdatedRow = {
  meaning:
    'The API server drops part of the status that the manager writes: the CustomResourceDefinition of the kind is older than the manager.',
  polarity: 'negative',
  reasons: {
    FieldsLost:
      "The message names the dropped fields. Apply the CustomResourceDefinitions of the manager's version. Until then, the object is reconciled at most once a minute.",
  },
} as const satisfies ConditionRow;
