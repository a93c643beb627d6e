import type { Figure } from '../figure.ts';
import { breaksBound } from './hostile-bounds.ts';
import type { HostileRow } from './hostile-bounds.ts';
import { hostileLine, hostilePresentation } from './hostile-report.ts';
import { measureHostile } from './hostile.ts';

/** `npm run bench -- hostile`. */
export const hostileFigure: Figure<'process', HostileRow> = {
  presentation: hostilePresentation,
  help: 'CPU, management requests and delay of others while endpoints of tenants are hostile; needs no cluster',
  measure: (_, { options, progress }) =>
    measureHostile(options, (row) => {
      progress(hostileLine(row));
    }),
  isBroken: (rows) => rows.some(breaksBound),
};
