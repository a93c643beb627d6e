import { goDuration } from '../../../api/go-duration.ts';
import type { ObjectMeta } from '../../../api/meta.ts';

/** Milliseconds of an annotation that holds a Go duration; undefined when it is absent or invalid. */
export function durationAnnotation({ annotations }: ObjectMeta, name: string): number | undefined {
  const text = annotations?.[name];
  if (text === undefined) return undefined;
  try {
    return goDuration(text);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
