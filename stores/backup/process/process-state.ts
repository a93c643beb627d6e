import type { Job, Pod } from '../../../api/core/kinds.ts';

/** How the Job of a process stands; `message` says why it was given up. */
export type JobState =
  { readonly is: 'running' } | { readonly is: 'complete' } | { readonly is: 'failed'; readonly message: string };

/** How a Job stands, by its conditions. */
export function jobState({ status }: Pick<Job, 'status'>): JobState {
  const found = (type: string): { readonly reason?: string; readonly message?: string } | undefined =>
    status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
  if (found('Complete') !== undefined) return { is: 'complete' };
  const failed = found('Failed');
  if (failed === undefined) return { is: 'running' };
  return { is: 'failed', message: failed.message ?? failed.reason ?? 'the Job failed' };
}

/** True for a pod that may still work. */
export function isAtWork({ status }: Pick<Pod, 'status'>): boolean {
  return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
}

/** What keeps pods from running, as the scheduler and their containers report it; at most two lines. */
export function podTroubles(pods: readonly Pod[]): string {
  const lines = pods.filter(isAtWork).flatMap(({ metadata: { name }, status }) => {
    const unscheduled = status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
    if (unscheduled !== undefined) return [`pod ${name}: ${unscheduled.message ?? 'is not scheduled'}`];
    return (status?.containerStatuses ?? []).flatMap(({ ready, state }) => {
      const { reason = '', message = '' } = state?.waiting ?? {};
      return ready || reason === '' ? [] : [`pod ${name}: ${reason} ${message}`.trim()];
    });
  });
  return [...new Set(lines)].slice(0, 2).join('; ');
}
