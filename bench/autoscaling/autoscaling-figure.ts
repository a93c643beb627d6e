import type { Figure } from '../figure.ts';
import { autoscalingPresentation, isMissed } from './autoscaling-report.ts';
import { measureAutoscaling } from './measure-autoscaling.ts';
import type { AutoscalingRow } from './measure-autoscaling.ts';

/** `npm run bench -- autoscaling`. */
export const autoscalingFigure: Figure<'steward', AutoscalingRow> = {
  presentation: autoscalingPresentation,
  help: 'pods of an autoscaled control plane, and failed calls, at 10, 300 and 10 calls a second',
  measure: (cluster, { progress }) => measureAutoscaling(cluster, progress),
  isBroken: isMissed,
};
