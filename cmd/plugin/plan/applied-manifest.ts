import type { Draft } from '../../../api/meta.ts';
import { isRecord } from '../../../api/structural/is-record.ts';
import { mergeApplied } from './merge-applied.ts';

/** Where `kubectl apply` records what it applied. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function recorded({ metadata }: Draft): unknown {
  try {
    return JSON.parse(metadata.annotations?.[lastApplied] ?? '') as unknown;
  } catch {
    return undefined;
  }
}

/**
 * What `kubectl apply` of a manifest makes of the stored object: fields that the manifest names win, fields that the last apply named and
 * this one does not are removed, and all others stay. A record of the last apply is needed for that; without one, nothing is removed.
 */
export function appliedManifest<T extends Draft>(current: T | undefined, manifest: T): T {
  if (current === undefined) return manifest;
  const before = recorded(current);
  const part = (object: unknown): unknown => {
    if (!isRecord(object)) return undefined;
    const { labels, annotations } = isRecord(object.metadata) ? object.metadata : {};
    return { spec: object.spec, metadata: { labels: labels ?? {}, annotations: annotations ?? {} } };
  };
  const { spec, metadata } = mergeApplied(part(current), part(before), part(manifest)) as {
    readonly spec: unknown;
    readonly metadata: { readonly labels?: object; readonly annotations?: object };
  };
  return { ...current, spec, metadata: { ...current.metadata, ...metadata } };
}
