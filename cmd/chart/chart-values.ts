import type { Node, Pair } from 'yaml';
import { isMap, parse, parseDocument } from 'yaml';

/** One value of a Helm chart, as its `values.yaml` describes it. */
export interface ChartValue {
  readonly name: string;
  readonly description: string;
  readonly default: unknown;
  /** What lies between two lines `@schema`: further JSON schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The values inside; absent for a value that takes any content. */
  readonly values?: readonly ChartValue[];
}

/**
 * The values of a `values.yaml`, in the order in which people read them. A map whose keys have comments is a group of values.
 * @throws Error for a value without a comment among others that have one.
 */
export const chartValues = (text: string): readonly ChartValue[] => valuesOf(parseDocument(text).contents, '') ?? [];

function valuesOf(node: unknown, path: string): readonly ChartValue[] | undefined {
  if (!isMap(node)) return undefined;
  const pairs = node.items as readonly Pair<Node, Node | null>[];
  // The comment above the first key is the map's.
  const comments = pairs.map(({ key }, index) => key.commentBefore ?? (index === 0 ? node.commentBefore : undefined));
  if (comments.every((comment) => comment === undefined || comment === null)) return undefined;
  return pairs.map(({ key, value }, index) => {
    const name = String(key);
    const comment = comments[index];
    if (typeof comment !== 'string') throw new Error(`the value ${path}${name} has no comment that describes it`);
    // What a blank line parts from the value is not about it; every second part between markers is schema.
    const about = comment.split('\n\n').at(-1) ?? '';
    const parts = about.replaceAll(/^ /gm, '').split(/^@schema$/m);
    const inside = valuesOf(value, `${path}${name}.`);
    return {
      name,
      description: parts
        .filter((_, part) => part % 2 === 0)
        .join(' ')
        .trim()
        .replaceAll(/\s+/g, ' '),
      default: value?.toJSON() as unknown,
      schema: (parse(parts.filter((_, part) => part % 2 === 1).join('\n')) ?? {}) as ChartValue['schema'],
      values: inside,
    };
  });
}
