import { obj, opt, str } from '../../api/schema.ts';

/** A reference to an object (core/v1 ObjectReference). */
export const objectReference = obj({
  apiVersion: opt(str()),
  kind: opt(str()),
  name: opt(str()),
  namespace: opt(str()),
  uid: opt(str()),
  resourceVersion: opt(str()),
  fieldPath: opt(str()),
});
