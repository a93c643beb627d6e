import { described, obj, opt, str } from '../../api/schema.ts';

/** A reference to an object (core/v1 ObjectReference). */
export const objectReference = obj({
  apiVersion: opt(described(str(), 'Group and version of the object.')),
  kind: opt(described(str(), 'Kind of the object.')),
  name: opt(described(str(), 'Name of the object.')),
  namespace: opt(described(str(), 'Namespace of the object, which is that of the referring object.')),
  uid: opt(described(str(), 'UID of the object.')),
  resourceVersion: opt(described(str(), 'Resource version of the object. Not used.')),
  fieldPath: opt(described(str(), 'Path of a field of the object. Not used.')),
});
