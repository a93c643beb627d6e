import type { Manifest } from '../../api/meta.ts';

const rbac = 'rbac.authorization.k8s.io';
const ofPods = new Set(['v1', 'apps/v1', 'batch/v1']);

type Fields = Readonly<Record<string, unknown>>;

/**
 * A manifest as the API server would store it, as far as it completes values of built-in kinds that are only replaced as a whole, and
 * in which nobody else can therefore have added anything: subjects of bindings, and references to fields of pods. Without fields
 * that are undefined, which are not sent.
 */
export function asStored(manifest: Manifest): Manifest {
  const isBinding = manifest.apiVersion === `${rbac}/v1`;
  const hasPods = ofPods.has(manifest.apiVersion);
  return JSON.parse(JSON.stringify(manifest), (name, value: unknown) => {
    if (isBinding && name === 'subjects' && Array.isArray(value)) return (value as readonly unknown[]).map(subject);
    return hasPods && name === 'fieldRef' && isFields(value) ? { apiVersion: 'v1', ...value } : value;
  }) as Manifest;
}

function subject(value: unknown): unknown {
  if (!isFields(value) || value.kind === 'ServiceAccount') return value;
  return { apiGroup: rbac, ...value };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
