import type { Figure } from '../figure.ts';
import { densityPresentation } from './density-report.ts';
import type { DensityRow } from './density-rows.ts';
import { measureDensity } from './measure-density.ts';

/** `npm run bench -- density`. */
export const densityFigure: Figure<'process', DensityRow> = {
  presentation: densityPresentation,
  help: 'how many idle tenants a datastore carries until a write takes more than a second, with each datastore',
  measure: (_, { options, progress }) => measureDensity({ ...options.density, stores: options.stores }, progress),
  isBroken: (rows) => rows.length === 0 || rows.some(({ failed }) => failed > 0),
};
