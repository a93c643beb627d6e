import { Buffer } from 'node:buffer';
import type { KindRef } from '../../api/meta.ts';
import { refusals } from './fake-refusals.ts';
import { isFields, sameJson, type StoredObject } from './stored-object.ts';

/** Most bytes of the data of a ConfigMap or a Secret. */
const mostData = 1024 * 1024;
/** Most bytes of all annotations, keys and values together. */
const mostAnnotations = 256 * 1024;

/** Fields of built-in kinds that stay what they were made with, by group and kind. */
const immutable: Readonly<Record<string, readonly string[]>> = {
  'apps/Deployment': ['selector'],
  'batch/Job': ['template', 'selector', 'completionMode'],
};

/** Refuses what the API server refuses of built-in kinds beyond their schemas: sizes, and changes of what may not be changed. */
export function refuseBeyondLimits(kind: KindRef, old: StoredObject | undefined, next: StoredObject): void {
  const name = next.metadata.name ?? '';
  const tooLong = (field: string, most: number): never => {
    throw refusals.invalid(kind, name, `${field}: Too long: may not be more than ${most} bytes`);
  };
  const annotations = Object.entries(next.metadata.annotations ?? {});
  if (annotations.reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0) > mostAnnotations)
    tooLong('metadata.annotations', mostAnnotations);
  if (kind.group === '' && kind.kind === 'Secret' && sizeOf(next.data, 'base64') > mostData) tooLong('data', mostData);
  if (kind.group === '' && kind.kind === 'ConfigMap') {
    if (sizeOf(next.data, 'utf8') + sizeOf(next.binaryData, 'base64') > mostData) tooLong('[]', mostData);
  }
  if (old === undefined) return;
  const isImmutable = (field: string, value: unknown, why = 'field is immutable'): never => {
    throw refusals.invalid(kind, name, `${field}: Invalid value: ${JSON.stringify(value)}: ${why}`);
  };
  if (kind.group === '' && kind.kind === 'Secret' && old.type !== next.type) isImmutable('type', next.type);
  const [before, after] = [specOf(old), specOf(next)];
  for (const field of immutable[`${kind.group}/${kind.kind}`] ?? []) {
    if (!sameJson(before[field], after[field])) isImmutable(`spec.${field}`, after[field]);
  }
  const isService = kind.group === '' && kind.kind === 'Service';
  const keepsAddress = after.type !== 'ExternalName' && typeof before.clusterIP === 'string';
  if (isService && keepsAddress && after.clusterIP !== before.clusterIP)
    isImmutable('spec.clusterIPs[0]', [after.clusterIP], 'may not change once set');
}

const specOf = ({ spec }: StoredObject): Readonly<Record<string, unknown>> => (isFields(spec) ? spec : {});

function sizeOf(data: unknown, encoding: 'base64' | 'utf8'): number {
  if (!isFields(data)) return 0;
  return Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value), encoding), 0);
}
