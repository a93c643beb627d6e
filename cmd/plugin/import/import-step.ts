import type { Key, KindRef, Manifest } from '../../../api/meta.ts';

/** A write. Each can be repeated: the next step is determined again after each one. */
export type Action =
  | { readonly do: 'create'; readonly kind: KindRef; readonly manifest: Manifest }
  | {
      readonly do: 'patch';
      readonly kind: KindRef;
      readonly key: Key;
      readonly body: Readonly<Record<string, unknown>>;
      readonly subresource?: 'status';
    }
  | {
      readonly do: 'delete';
      readonly kind: KindRef;
      readonly key: Key;
      readonly uid: string;
      readonly propagation: 'Background' | 'Orphan';
    };

/** What a step needs next. */
export type Next =
  | { readonly is: 'done' }
  | { readonly is: 'act'; readonly actions: readonly Action[] }
  /** Something that others do, or that needs time. */
  | { readonly is: 'wait'; readonly for: string }
  /** Something that a person has to do before the command can go on. */
  | { readonly is: 'absent'; readonly message: string }
  /** It cannot go on. */
  | { readonly is: 'failed'; readonly message: string };

/** A step of an import, in a world that is described by `S`. It is pure: the same facts give the same next writes. */
export interface ImportStep<S> {
  readonly id: string;
  /** What it does, for a person. */
  readonly title: string;
  readonly next: (facts: S) => Next;
}

export const done: Next = { is: 'done' };

/** Acts if there is something to do. */
export function actOr(actions: readonly Action[], otherwise: Next = done): Next {
  return actions.length > 0 ? { is: 'act', actions } : otherwise;
}

/** The first step that is not done, and what it needs; undefined when all are. */
export function nextStep<S>(
  steps: readonly ImportStep<S>[],
  facts: S,
): { readonly step: ImportStep<S>; readonly next: Exclude<Next, { is: 'done' }> } | undefined {
  for (const step of steps) {
    const next = step.next(facts);
    if (next.is !== 'done') return { step, next };
  }
  return undefined;
}
