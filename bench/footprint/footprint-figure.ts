import type { Figure } from '../figure.ts';
import type { Footprint } from './footprint-between.ts';
import { footprintPresentation } from './footprint-report.ts';
import { measureFootprint } from './footprint.ts';

/** `npm run bench -- footprint`. */
export const footprintFigure: Figure<'steward', Footprint> = {
  presentation: footprintPresentation,
  help: 'memory, CPU and API requests of the manager per tenant',
  measure: (cluster, { options }) => measureFootprint(cluster, options),
};
