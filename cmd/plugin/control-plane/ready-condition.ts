import type { Condition } from '../../../api/meta.ts';

interface Conditioned {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A condition of an object, if it describes the spec that the object has now. */
export function currentCondition({ metadata, status }: Conditioned, type: string): Condition | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found !== undefined && (found.observedGeneration ?? 0) >= (metadata.generation ?? 0) ? found : undefined;
}

/** A condition in one line: its reason, and its message if it has one. */
export function conditionLine({ reason, message }: Pick<Condition, 'reason' | 'message'>): string {
  return message === '' ? reason : `${reason}: ${message}`;
}
