import type { Manifest } from '../../../api/meta.ts';
import { quotaPolicy } from '../../../api/names.ts';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import { denyWritesManifests } from '../shared/deny-writes-policy.ts';
import { allowances } from './quota-allowances.ts';
import type { QuotaDecision } from './quota-decision.ts';

/**
 * The policy that denies creations and changes inside a tenant that has reached a limit, and its binding. Deletions are never denied, nor
 * is what makes them possible (`allowances`). The message is the same while the tenant has reached the same limits, so that the policy is
 * written once.
 */
export function quotaManifests({ status }: QuotaDecision): readonly Manifest[] {
  const message = `this cluster has reached its quota (${limitsOf(status)}): ${helpOf(status)}, or ask the operator of the control plane to raise spec.quota`;
  return denyWritesManifests({
    ...{ name: quotaPolicy, operations: ['CREATE', 'UPDATE'], message },
    matchConditions: allowances
      .filter(({ isRepeatable }) => isRepeatable !== true || status.overdrawn !== true)
      .map(({ name, allows }) => ({ name: `not-${name}`, expression: `!(${allows})` })),
  });
}

const isOfStorage = (name: string): boolean => name !== 'writesPerSecond';

function limitsOf({ hard, reached = [] }: QuotaStatus): string {
  return [
    ...(reached.some(isOfStorage) && hard.dataSize !== undefined ? [`${hard.dataSize} of data`] : []),
    ...(reached.some(isOfStorage) && hard.objects !== undefined ? [`${hard.objects} objects`] : []),
    ...(reached.includes('writesPerSecond') ? [`${String(hard.writesPerSecond)} writes a second`] : []),
  ].join(' or ');
}

function helpOf({ reached = [] }: QuotaStatus): string {
  return [
    ...(reached.some(isOfStorage) ? ['delete objects'] : []),
    ...(reached.includes('writesPerSecond') ? ['write less often and try again in a minute'] : []),
  ].join(', ');
}
