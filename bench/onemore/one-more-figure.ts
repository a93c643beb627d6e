import type { Figure } from '../figure.ts';
import { measureOneMore } from './measure-one-more.ts';
import { oneMorePresentation } from './one-more-report.ts';
import type { OneMoreRow } from './one-more-report.ts';

/** `npm run bench -- onemore`. */
export const oneMoreFigure: Figure<'steward', OneMoreRow> = {
  presentation: oneMorePresentation,
  help: 'time until one more tenant is Ready while many run, and while none does',
  measure: (cluster, { options }) => measureOneMore(cluster, options),
};
