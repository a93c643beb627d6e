import type { AppliedResource } from '../../api/clusterstack/applied-resource.ts';
import type { AddonStage } from '../../stacks/cluster-addon-config.ts';
import type { Failure } from './apply-objects.ts';
import { failureText } from './apply-objects.ts';
import type { Obstacle } from './stage-error.ts';
import { lookAgain } from './stage-error.ts';

/** Objects that are told of one by one. */
export const mostTold = 8;

/** What became of the objects of a stage that were not applied. */
export function refusals(stage: AddonStage, failures: readonly Failure[]): Obstacle {
  const isPending = failures.every((failure) => failure.isPending);
  const told = failures.slice(0, mostTold).map(failureText);
  const more = failures.length > told.length ? ` and ${failures.length - told.length} more` : '';
  return {
    type: 'HelmChartApplied',
    reason: isPending ? 'ObjectsApplyingOngoing' : 'FailedToApplyObjects',
    message: `stage ${stage.name}: ${told.join('; ')}${more}`,
    afterMs: isPending ? lookAgain.soon : lookAgain.usual,
  };
}

/** A failed object as the status tells of it. */
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
