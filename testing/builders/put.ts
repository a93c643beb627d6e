import type { StoredChange } from '../../stores/tenancy-data.ts';

/** A put of text. */
export const put = (key: string, value: string): StoredChange => ({
  is: 'put',
  entry: { key, value: Buffer.from(value) },
});
