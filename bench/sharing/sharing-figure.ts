import type { Figure } from '../figure.ts';
import type { ThroughputRow } from '../scale/scale-rows.ts';
import { measureSharing } from './measure-sharing.ts';
import { sharingPresentation } from './sharing-report.ts';

/** `npm run bench -- sharing`. */
export const sharingFigure: Figure<'process', ThroughputRow> = {
  presentation: sharingPresentation,
  help: 'tenants created at once for one manager, and for several that share them; needs no cluster',
  measure: (_, { options, progress }) =>
    measureSharing({ tenants: Math.max(...options.scale.tenants), managers: options.chaos.managers }, progress),
};
