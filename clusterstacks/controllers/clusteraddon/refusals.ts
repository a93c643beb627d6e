import type { AppliedResource } from '../../api/applied-resource.ts';
import type { AddonStage } from '../../sources/cluster-addon-config.ts';
import type { Failure } from './workload/apply-objects.ts';
import { failureText } from './workload/apply-objects.ts';
import type { Blocker } from './stage-error.ts';
import { lookAgain } from './stage-error.ts';

/** At most this many failed objects are listed one by one. */
export const mostListed = 8;

/** What became of the objects of a stage that were not applied. */
export function refusals(stage: AddonStage, failures: readonly Failure[]): Blocker {
  const isPending = failures.every((failure) => failure.isPending);
  const listed = failures.slice(0, mostListed).map(failureText);
  const more = failures.length > listed.length ? ` and ${failures.length - listed.length} more` : '';
  return {
    type: 'HelmChartApplied',
    reason: isPending ? 'ObjectsApplyingOngoing' : 'FailedToApplyObjects',
    message: `stage ${stage.name}: ${listed.join('; ')}${more}`,
    afterMs: isPending ? lookAgain.soon : lookAgain.usual,
  };
}

/** A failed object as the status lists it. */
export function resourceOf({ object, message }: Failure): AppliedResource {
  const slash = object.apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : object.apiVersion.slice(0, slash),
    version: object.apiVersion.slice(slash + 1),
    kind: object.kind,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
    status: 'not-synced',
    error: message,
  };
}
