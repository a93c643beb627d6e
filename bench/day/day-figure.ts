import type { Figure } from '../figure.ts';
import { dayPresentation } from './day-report.ts';
import type { DayRow } from './day-rows.ts';
import { isDisturbed } from './day-rows.ts';
import { measureDay } from './measure-day.ts';

/** `npm run bench -- day`. */
export const dayFigure: Figure<'steward', DayRow> = {
  presentation: dayPresentation,
  help: 'a day of four tenants that sleep when nobody calls, with moved clocks: what is saved, and who waits',
  measure: (cluster, { progress }) => measureDay(cluster, progress),
  isBroken: (rows) => rows.some(isDisturbed),
};
