import type { Figure } from '../figure.ts';
import { measureRestore } from './measure-restore.ts';
import { isBeyondBounds, restorePresentation } from './restore-report.ts';
import type { RestoreRow } from './restore-rows.ts';

/** `npm run bench -- restore`. */
export const restoreFigure: Figure<'steward', RestoreRow> = {
  presentation: restorePresentation,
  help: 'what a destroyed tenant loses and how long its restore takes, with each datastore',
  measure: measureRestore,
  isBroken: (rows) => rows.length === 0 || rows.some(isBeyondBounds),
};
