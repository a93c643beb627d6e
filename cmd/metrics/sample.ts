import type { ObjectSample } from '../../runtime/observe/object-metrics.ts';

/** One sample of an object, or none if its value is not known. */
export function sample(value: number | undefined, labels?: ObjectSample['labels']): readonly ObjectSample[] {
  return value === undefined || Number.isNaN(value) ? [] : [{ value, ...(labels !== undefined && { labels }) }];
}
