import { watchFilterLabel } from '../../../api/cluster-api/names.ts';
import type { Resource } from '../../../api/meta.ts';

/** Whether an object is for the manager of this filter; all are without one. */
export const isWatched =
  (filter = '') =>
  ({ metadata }: Resource): boolean =>
    filter === '' || metadata.labels?.[watchFilterLabel] === filter;
