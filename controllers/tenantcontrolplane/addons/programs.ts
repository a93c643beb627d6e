import { addons } from './registry.ts';
import { programsOf } from '../workload/guarded-arguments.ts';

/** All programs of control planes for which authors may set arguments. */
export const programs = programsOf(addons);
