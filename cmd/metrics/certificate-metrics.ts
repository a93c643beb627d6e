import type { Secret } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import type { ObjectMetric } from '../../runtime/observe/object-metrics.ts';
import { sample } from './sample.ts';

/** What is measured of the Secrets of a TenantControlPlane: one series for each that contains a certificate. */
export const certificateMetrics: readonly ObjectMetric<Pick<Secret, 'metadata'>>[] = [
  {
    name: 'steward_certificate_expiry_timestamp_seconds',
    help: 'When the first certificate in a Secret of a TenantControlPlane expires, since 1970',
    labels: [],
    samples: ({ metadata }) => sample(secondsOf(metadata.annotations?.[annotations.certificateExpiry])),
  },
];

/** Of a time as Steward writes it; others may write anything. */
function secondsOf(text = ''): number | undefined {
  const isOurs = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text);
  return isOurs ? Date.parse(text) / 1000 : undefined;
}
