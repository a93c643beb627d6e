import type { ConditionRow } from '../condition-row.ts';
import type { Remedy } from './remedy.ts';

/** A remedy for every reason of these conditions. */
export type RemediesOf<Rows extends Readonly<Record<string, ConditionRow>>> = {
  readonly [T in keyof Rows]: Readonly<Record<keyof Rows[T]['reasons'], Remedy>>;
};
