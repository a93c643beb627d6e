import type { Figure } from '../figure.ts';
import { measureWorker } from './measure-worker.ts';
import { workerPresentation } from './worker-report.ts';
import type { WorkerRow } from './worker-rows.ts';

/** `npm run bench -- worker`. */
export const workerFigure: Figure<'clusterApi', WorkerRow> = {
  presentation: workerPresentation,
  help: 'time from `kubectl apply` of a Cluster to its first worker, and of a machine that joins by hand',
  isQuick: true,
  measure: (stage, { options }) => measureWorker(stage, options.rounds),
};
