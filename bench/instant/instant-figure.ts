import type { Figure } from '../figure.ts';
import { instantPresentation, isTooSlowOrShared } from './instant-report.ts';
import type { InstantRow } from './instant-rows.ts';
import { measureInstant } from './measure-instant.ts';

/** `npm run bench -- instant`. */
export const instantFigure: Figure<'steward', InstantRow> = {
  presentation: instantPresentation,
  help: 'time from the claim of a prepared control plane to its first answer, and what those in reserve need',
  measure: (cluster, { options }) => measureInstant(cluster, options),
  isBroken: isTooSlowOrShared,
};
