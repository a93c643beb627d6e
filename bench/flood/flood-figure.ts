import type { Figure } from '../figure.ts';
import { floodPresentation, isHarmful } from './flood-report.ts';
import type { FloodRow } from './flood-rows.ts';
import { measureFlood } from './measure-flood.ts';

/** `npm run bench -- flood`. */
export const floodFigure: Figure<'steward', FloodRow> = {
  presentation: floodPresentation,
  help: 'what a hostile tenant does to its neighbor in the same DataStore, with each datastore',
  measure: measureFlood,
  isBroken: (rows) => rows.length === 0 || rows.some(isHarmful),
};
