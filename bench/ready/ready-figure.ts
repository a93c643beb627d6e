import type { Figure } from '../figure.ts';
import { readyPresentation } from './ready-report.ts';
import { readyRows } from './ready-rows.ts';
import type { ReadyRow } from './ready-rows.ts';
import { measureReady } from './ready.ts';

/** `npm run bench -- ready`. */
export const readyFigure: Figure<'steward', ReadyRow> = {
  presentation: readyPresentation,
  help: 'time from creation to the first /readyz and to status Ready, against two floors',
  isQuick: true,
  measure: async (cluster, { options }) => readyRows(await measureReady(cluster, options)),
};
