import type { Figure } from '../figure.ts';
import { chaosPresentation, isBroken } from './chaos-report.ts';
import type { ChaosRow } from './chaos-rows.ts';
import { measureChaos } from './measure-chaos.ts';

/** `npm run bench -- chaos`. */
export const chaosFigure: Figure<'process', ChaosRow> = {
  presentation: chaosPresentation,
  help: 'several managers over a fleet while they, the management API and the datastore fail',
  measure: (_, { options, progress }) => measureChaos(options.chaos, progress),
  isBroken: (rows) => rows.some(isBroken),
};
