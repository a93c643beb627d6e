import type { Infer } from '../../api/schema.ts';
import { described, obj, oneOf, opt, str } from '../../api/schema.ts';

/** Result of applying one object of a chart. */
export const appliedResource = obj({
  group: opt(described(str(), 'API group of the object. Empty for the core group.')),
  version: opt(described(str(), 'API version of the object, without its group.')),
  kind: opt(described(str(), 'Kind of the object.')),
  namespace: opt(described(str(), 'Namespace of the object. Empty for a cluster-wide object.')),
  name: opt(described(str(), 'Name of the object.')),
  status: opt(described(oneOf('synced', 'not-synced'), 'Whether the object in the cluster matches the chart.')),
  error: opt(described(str(), 'Why the object does not match the chart.')),
});
export type AppliedResource = Infer<typeof appliedResource>;
