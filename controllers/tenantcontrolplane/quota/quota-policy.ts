import type { Manifest } from '../../../api/meta.ts';
import { quotaPolicy } from '../../../api/names.ts';
import { denyWritesManifests } from '../shared/deny-writes-policy.ts';
import { allowances } from './quota-allowances.ts';
import type { QuotaDecision } from './quota-decision.ts';

/**
 * The policy that denies creations and changes inside a tenant that has reached a limit, and its binding. Deletions are never denied, nor
 * is what makes them possible (`allowances`). The message is the same while the tenant is blocked, so that the policy is written once.
 */
export function quotaManifests({ status: { hard } }: QuotaDecision): readonly Manifest[] {
  const limits = [
    ...(hard.dataSize === undefined ? [] : [`${hard.dataSize} of data`]),
    ...(hard.objects === undefined ? [] : [`${hard.objects} objects`]),
  ].join(' or ');
  const message = `this cluster has reached its quota (${limits}): delete objects, or ask the operator of the control plane to raise spec.quota`;
  return denyWritesManifests({
    ...{ name: quotaPolicy, operations: ['CREATE', 'UPDATE'], message },
    matchConditions: allowances.map(({ name, allows }) => ({ name: `not-${name}`, expression: `!(${allows})` })),
  });
}
