import type { Figure } from '../figure.ts';
import { measureWake } from './measure-wake.ts';
import { breaksPromise, wakePresentation } from './wake-report.ts';
import type { WakeRow } from './wake-rows.ts';

/** `npm run bench -- wake`. */
export const wakeFigure: Figure<'steward', WakeRow> = {
  presentation: wakePresentation,
  help: 'first answers of control planes that sleep, what sleep saves, and what hostile hellos do',
  measure: (cluster, { options }) => measureWake(cluster, options.wake),
  isBroken: breaksPromise,
};
