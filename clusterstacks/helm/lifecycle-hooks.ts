import type { Manifest } from '../../api/meta.ts';

/** Hook events of Helm (https://helm.sh/docs/topics/charts_hooks) that occur on apply, not on deletion, rollback or tests. */
const ofApplying = new Set(['pre-install', 'post-install', 'pre-upgrade', 'post-upgrade', 'crd-install']);

/** Whether helm would run this object only when a release is deleted, rolled back or tested. */
export function isForOtherOccasions({ metadata }: Manifest): boolean {
  const hook = metadata.annotations?.['helm.sh/hook'];
  if (typeof hook !== 'string') return false;
  return !hook.split(',').some((event) => ofApplying.has(event.trim().toLowerCase()));
}
