import { isRecord } from '../../../api/structural/is-record.ts';

/** The lists whose items have an identity in server-side apply, by the name of the field that holds them. */
const associative: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  env: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  imagePullSecrets: ['name'],
  conditions: ['type'],
  ownerReferences: ['uid'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
};

/**
 * The identity of each item of a list: equal ones are the same item in two versions of an object. Undefined for a list that is replaced as
 * a whole.
 */
export function itemKeys(field: string, items: readonly unknown[]): readonly string[] | undefined {
  const first = items[0];
  const ports = isRecord(first) && 'containerPort' in first ? ['containerPort', 'protocol'] : ['port', 'protocol'];
  const fields = field === 'ports' ? ports : associative[field];
  if (fields === undefined) return undefined;
  const keys = items.map((item) =>
    isRecord(item) ? fields.map((key) => textOf(item[key], key)).join('/') : undefined,
  );
  const known = keys.filter((key) => key !== undefined && key !== '');
  return known.length === items.length && new Set(known).size === known.length ? (known as string[]) : undefined;
}

/** One part of an identity. A port without a protocol is one of TCP. */
function textOf(value: unknown, key: string): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return key === 'protocol' ? 'TCP' : '';
}

/** Maps that are replaced as a whole. */
export const atomicMaps: ReadonlySet<string> = new Set(['selector', 'matchLabels', 'nodeSelector', 'labelSelector']);
