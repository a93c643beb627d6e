import type { Deployment } from '../../../api/core/kinds.ts';
import { annotations, componentChecksumLabel } from '../../../api/names.ts';
import { fieldChanges } from './field-changes.ts';
import type { FieldChange } from './field-changes.ts';
import type { PlannedPods } from './plan-result.ts';

const checksumLabel = componentChecksumLabel('');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Why the change of one field of the template replaces the pods. */
function reasonFor({ field, before, after }: FieldChange): string {
  const label = field.split(checksumLabel)[1]?.replace(/\]$/, '');
  if (label === 'datastore') return 'the control plane uses another DataStore';
  if (label !== undefined) return `Secret with component ${label} changes`;
  if (field.includes(annotations.storageConfig)) return 'the credentials of the tenancy change';
  const path = field.replace(/^spec\./, '');
  if (Array.isArray(before) && Array.isArray(after)) {
    const parts = [...before.map((item) => `-${textOf(item)}`), ...after.map((item) => `+${textOf(item)}`)];
    return `${path}: ${parts.join(' ')}`;
  }
  if (before === undefined) return `${path} is added`;
  return after === undefined ? `${path} is removed` : `${path}: ${textOf(before)} becomes ${textOf(after)}`;
}

/** What becomes of the pods, from their Deployment before and after. */
export function plannedPods(before: Deployment | undefined, after: Deployment | undefined): PlannedPods {
  const [from, to] = [before?.spec?.replicas ?? 0, after?.spec?.replicas ?? 0];
  const counts = { from, to, reasons: [] };
  if (from === 0 || to === 0) return { action: from === to ? 'none' : to === 0 ? 'stop' : 'start', ...counts };
  const changes = fieldChanges(before?.spec?.template ?? {}, after?.spec?.template ?? {});
  if (changes.length > 0) return { action: 'restart', from, to, reasons: [...new Set(changes.map(reasonFor))] };
  return { action: from === to ? 'none' : 'scale', ...counts };
}
