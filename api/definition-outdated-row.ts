import type { ConditionRow } from './condition-row.ts';

/** The condition that every kind has while its definition is older than the manager. */
export const definitionOutdatedRow = {
  meaning:
    'The API server does not keep all that the manager writes as status: the definition of the kind is older than the manager.',
  polarity: 'negative',
  reasons: {
    FieldsLost:
      'The message names the fields that did not come back. Apply the CustomResourceDefinitions of the manager’s version; until then the object is tried once a minute at most.',
  },
} as const satisfies ConditionRow;
