import type { Figure } from '../figure.ts';
import { measureScale } from './measure-scale.ts';
import { breaksPromise, scalePresentation } from './scale-report.ts';
import type { ScaleRow } from './scale-rows.ts';

/** `npm run bench -- scale`. */
export const scaleFigure: Figure<'process', ScaleRow> = {
  presentation: scalePresentation,
  help: "one manager with many tenants, whose API servers are a stand-in: the table of a thousand tenants' reach",
  measure: (_, { options, progress }) => measureScale(options.scale, progress),
  isBroken: breaksPromise,
};
