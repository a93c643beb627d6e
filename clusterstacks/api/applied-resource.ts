import type { Infer } from '../../api/schema.ts';
import { described, obj, oneOf, opt, str } from '../../api/schema.ts';

/** Result of applying one object of a chart. */
export const appliedResource = obj({
  group: opt(str()),
  version: opt(str()),
  kind: opt(str()),
  namespace: opt(str()),
  name: opt(str()),
  status: opt(described(oneOf('synced', 'not-synced'), 'Whether the object in the cluster matches the chart.')),
  error: opt(described(str(), 'Why the object does not match the chart.')),
});
export type AppliedResource = Infer<typeof appliedResource>;
