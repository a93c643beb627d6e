import type { Figure } from '../figure.ts';
import { burstPresentation, hasLeftovers } from './burst-report.ts';
import type { BurstRow } from './burst-report.ts';
import { measureBurst } from './measure-burst.ts';

/** `npm run bench -- burst`. */
export const burstFigure: Figure<'steward', BurstRow> = {
  presentation: burstPresentation,
  help: 'many tenants created at once, and deleted at once, against the same pods by hand',
  isQuick: true,
  measure: (cluster, { options }) => measureBurst(cluster, { sizes: options.burst, rounds: options.rounds }),
  isBroken: (rows) => rows.some(hasLeftovers),
};
