import { described, map, obj, opt, str } from '../schema.ts';

/** Labels and annotations that are added to an object that Steward creates. */
export const additionalMetadata = obj({
  labels: opt(described(map(str()), 'Labels besides those of Steward.')),
  annotations: opt(described(map(str()), 'Annotations besides those of Steward.')),
});
