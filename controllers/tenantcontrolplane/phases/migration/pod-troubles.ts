import type { Pod } from '../../../../api/core/kinds.ts';

/** What keeps pods from running or serving, as the scheduler and their containers say; at most four lines. */
export function podTroubles(pods: readonly Pod[]): string {
  const lines = pods.flatMap(({ metadata, status }) => {
    const name = metadata.name ?? '';
    const unscheduled = status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
    if (unscheduled !== undefined) return [`pod ${name}: ${unscheduled.message ?? 'is not scheduled'}`];
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    return containers.flatMap(({ name: container, ready, state }) => {
      const { reason = '', message = '' } = state?.waiting ?? state?.terminated ?? {};
      return ready || reason === '' ? [] : [`container ${container} of pod ${name}: ${reason} ${message}`.trim()];
    });
  });
  return [...new Set(lines)].slice(0, 4).join('; ');
}
