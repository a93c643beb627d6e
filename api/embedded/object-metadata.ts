import { map, obj, opt, str } from '../schema.ts';

/** Labels and annotations that are added to an object that Steward creates. */
export const additionalMetadata = obj({
  labels: opt(map(str())),
  annotations: opt(map(str())),
});
