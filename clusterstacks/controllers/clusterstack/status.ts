import type { ClusterStack, ClusterStackStatus, ReleaseSummary } from '../../api/cluster-stack.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import { withSeverity } from '../../api/with-severity.ts';
import { stateCondition } from '../../../api/conditions.ts';
import type { Condition } from '../../../api/meta.ts';
import type { NewCondition } from '../../../runtime/reconcile/conditions.ts';
import { conditionsOf, isTrue, setConditions, summarize } from '../../../runtime/reconcile/conditions.ts';
import type { Report } from '../../../runtime/reconcile/phases.ts';
import { versionIn } from '../../sources/release-name.ts';
import { compareVersions, withDot } from '../../sources/release-version.ts';
import { newestReady } from './plan.ts';
import type { Scope } from './scope.ts';

const parts = [
  'AssetsClientAPIAvailable',
  'ReleasesSynced',
  'ProviderClusterStackReleasesSynced',
  'ClusterStackReleasesSynced',
  'ClusterStackReleaseAvailable',
];

/** What a reconcile found, in the status of the stack. */
export function statusOf(stack: ClusterStack, report: Report<Scope>, now: Date): ClusterStackStatus {
  const releases = newestFirst(stack, report.scope.releases ?? report.scope.owned);
  const summary = releases.map(({ release, text }) => summaryOf(release, text));
  const usable = summary.filter(({ ready }) => ready).map(({ name }) => name);
  const newest = newestReady(
    stack,
    releases.map(({ release }) => release),
  );
  const at = { generation: stack.metadata.generation, now };
  const found = [...conditionsOf(report), availability(summary)];
  const conditions = setConditions(stack.status?.conditions ?? [], found, at);
  return {
    observedGeneration: at.generation,
    ...(newest !== undefined && {
      latestRelease: `${newest.metadata.name} | ${newest.status?.kubernetesVersion ?? ''}`,
    }),
    summary,
    usableVersions: usable.join(', '),
    conditions: withSeverity(setConditions(conditions, [readiness(conditions)], at)),
  };
}

function newestFirst(
  stack: ClusterStack,
  releases: readonly ClusterStackRelease[],
): readonly { readonly release: ClusterStackRelease; readonly text: string }[] {
  return releases
    .flatMap((release) => {
      const version = versionIn(stack.spec, release.metadata.name);
      return version === undefined ? [] : [{ release, version, text: withDot(version) }];
    })
    .sort((a, b) => compareVersions(b.version, a.version));
}

function summaryOf({ metadata, status }: ClusterStackRelease, name: string): ReleaseSummary {
  const conditions = status?.conditions ?? [];
  const ready = status?.ready === true && metadata.deletionTimestamp === undefined;
  const why = conditions.find(({ type, status: is }) => type === 'Ready' && is !== 'True');
  const message = why === undefined || ready ? '' : [why.reason, why.message].filter((part) => part !== '').join(': ');
  return { name, ready, phase: phaseOf(ready, conditions), ...(message !== '' && { message }) };
}

function phaseOf(ready: boolean, conditions: readonly Condition[]): ReleaseSummary['phase'] {
  if (ready) return 'done';
  if (conditions.length === 0) return '';
  if (!isTrue(conditions, 'ClusterStackReleaseDownloaded')) return 'downloading release assets';
  if (!isTrue(conditions, 'ProviderClusterStackReleaseReady')) return 'provider-specific work';
  return 'applying objects';
}

function availability(summary: readonly ReleaseSummary[]): NewCondition {
  const type = 'ClusterStackReleaseAvailable';
  if (summary.some(({ ready }) => ready)) {
    return stateCondition('ClusterStack', { type, status: 'True', reason: 'Succeeded', message: '' });
  }
  if (summary.length === 0) {
    return stateCondition('ClusterStack', {
      type,
      status: 'False',
      reason: 'NoRelease',
      message: 'there is no release',
    });
  }
  const message = summary
    .map(({ name, phase, message: why }) => `${name}: ${why ?? (phase || 'not reconciled yet')}`)
    .join('; ');
  return stateCondition('ClusterStack', { type, status: 'False', reason: 'NoReleaseReady', message });
}

function readiness(conditions: readonly Condition[]): NewCondition {
  return summarize(conditions, parts, 'Ready');
}
