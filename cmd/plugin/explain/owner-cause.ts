import { stewardControlPlaneConditions } from '../../../api/controlplane/condition-rows.ts';
import { remedyFor } from '../../../api/remedies/remedy-table.ts';
import { conditionCause } from './condition-cause.ts';
import type { Cause } from './explanation.ts';
import type { Situation } from './situation.ts';

/** Conditions that only summarize others. */
const summaries: ReadonlySet<string> = new Set([
  'Available',
  'Initialized',
  'CertificatesAvailable',
  'Ready',
  'StewardControlPlaneIsInitialized',
  'StewardControlPlaneIsReady',
]);

/** What the StewardControlPlane says beyond its TenantControlPlane. */
export function ownerCause(situation: Situation): Cause | undefined {
  const list = situation.stewardControlPlane?.status?.conditions ?? [];
  const rows = Object.entries(stewardControlPlaneConditions).filter(([type]) => !summaries.has(type));
  for (const [type, { polarity }] of rows) {
    const condition = list.find((one) => one.type === type);
    if (condition?.status !== (polarity === 'positive' ? 'False' : 'True')) continue;
    // What follows from the TenantControlPlane is explained there.
    if (type !== 'Deleting' && remedyFor('StewardControlPlane', type, condition.reason)?.passes === true) continue;
    return conditionCause(situation, 'StewardControlPlane', condition);
  }
  return undefined;
}
