import type { Figure } from '../figure.ts';
import { drainPresentation, isDisturbed } from './drain-report.ts';
import { measureDrain } from './measure-drain.ts';
import type { DrainRow } from './measure-drain.ts';

/** `npm run bench -- drain`. */
export const drainFigure: Figure<'steward', DrainRow> = {
  presentation: drainPresentation,
  help: 'five tenants that write, migrated from etcd to PostgreSQL one after the other by a drain',
  measure: (cluster, { progress }) => measureDrain(cluster, progress),
  isBroken: (rows) => rows.some(isDisturbed),
};
