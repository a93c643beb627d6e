import type { AppliedResource } from '../../api/applied-resource.ts';
import type { ClusterStackRelease, ClusterStackReleaseStatus } from '../../api/cluster-stack-release.ts';
import { withSeverity } from '../../api/with-severity.ts';
import { stateCondition } from '../../../api/conditions.ts';
import type { NewCondition } from '../../../runtime/reconcile/conditions.ts';
import { conditionsOf, isTrue, setConditions, summarize } from '../../../runtime/reconcile/conditions.ts';
import type { Report } from '../../../runtime/reconcile/phases.ts';
import type { Scope } from './scope.ts';

const parts = [
  'AssetsClientAPIAvailable',
  'ClusterStackReleaseDownloaded',
  'ProviderClusterStackReleaseReady',
  'HelmChartApplied',
];

/** What a reconcile found, in the status of the release. */
export function statusOf(
  release: ClusterStackRelease,
  found: { readonly report: Report<Scope>; readonly resources: readonly AppliedResource[] | undefined },
  now: Date,
): ClusterStackReleaseStatus {
  const { report } = found;
  const before = release.status;
  const at = { generation: release.metadata.generation, now };
  const conditions = setConditions(before?.conditions ?? [], conditionsOf(report), at);
  const ready = summarize(conditions, parts, 'Ready');
  const { assets } = report.scope;
  const resources = found.resources ?? before?.resources;
  const digest = before?.digest ?? assets?.digest;
  return {
    observedGeneration: at.generation,
    ...(resources !== undefined && { resources: sorted(resources) }),
    kubernetesVersion: before?.kubernetesVersion,
    ...(assets !== undefined && { kubernetesVersion: assets.metadata.kubernetes }),
    // What was created stays usable while its source is unavailable: the conditions report that.
    ready: isTrue([...conditions], 'HelmChartApplied') || (before?.ready === true && isUntried(report)),
    digest,
    ...recordOf(before, report, now),
    conditions: withSeverity(setConditions(conditions, [ready], at)),
  };
}

/** Whether the objects were not checked in this reconcile, because an earlier step was not done. */
function isUntried({ lines }: Report<Scope>): boolean {
  const line = lines.find(({ phase }) => phase.name === 'objects');
  return line?.outcome === undefined && line?.error === undefined;
}

/** Where and when the release was seen first; never changed afterwards. */
function recordOf(
  before: ClusterStackReleaseStatus | undefined,
  { scope: { assets } }: Report<Scope>,
  now: Date,
): Pick<ClusterStackReleaseStatus, 'source' | 'observedAt'> {
  if (before?.digest !== undefined) {
    const { source, observedAt } = before;
    return { source, observedAt };
  }
  if (assets === undefined) return {};
  return { source: `${assets.source} ${assets.tag}`, observedAt: now.toISOString().replace(/\.\d{3}Z$/, 'Z') };
}

const sorted = (resources: readonly AppliedResource[]): readonly AppliedResource[] => {
  const text = ({ group = '', kind = '', namespace = '', name = '' }: AppliedResource): string =>
    [group, kind, namespace, name].join('/');
  return [...resources].sort((a, b) => (text(a) < text(b) ? -1 : 1));
};

/** The status of a release that is being deleted and cannot go yet. */
export function goingStatus(
  release: ClusterStackRelease,
  why: Pick<NewCondition, 'message'> & { readonly reason: 'InUse' | 'Deleting' },
  now: Date,
): ClusterStackReleaseStatus {
  const at = { generation: release.metadata.generation, now };
  const ready = stateCondition('ClusterStackRelease', { type: 'Ready', status: 'False', ...why });
  return {
    ready: false,
    ...release.status,
    observedGeneration: at.generation,
    conditions: withSeverity(setConditions(release.status?.conditions ?? [], [ready], at)),
  };
}
