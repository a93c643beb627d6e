import { described, map, obj, opt, str } from '../schema.ts';

/** Labels and annotations that are added to an object that Steward creates. */
export const additionalMetadata = obj({
  labels: opt(described(map(str()), 'Labels that are added to those that Steward sets.')),
  annotations: opt(described(map(str()), 'Annotations that are added to those that Steward sets.')),
});
