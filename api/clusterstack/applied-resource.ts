import type { Infer } from '../schema.ts';
import { described, obj, oneOf, opt, str } from '../schema.ts';

/** What one object of a chart came to. */
export const appliedResource = obj({
  group: opt(str()),
  version: opt(str()),
  kind: opt(str()),
  namespace: opt(str()),
  name: opt(str()),
  status: opt(
    described(oneOf('synced', 'not-synced'), 'Whether the object is in the cluster as the chart describes it.'),
  ),
  error: opt(described(str(), 'Why it is not.')),
});
export type AppliedResource = Infer<typeof appliedResource>;
