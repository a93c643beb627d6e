import { slowness } from '../cluster/slowness.ts';

/** A minute of a good machine, in milliseconds: what ends something that hangs, and no measure of speed. */
export const minutes = 60_000 * slowness();
