import { hash } from './hash.ts';
import type { Mutant } from './mutant.ts';

/** The mutants with names that no two have: files of one name in two folders may have the same function. */
export function withoutTwins(mutants: readonly Mutant[]): readonly Mutant[] {
  const places = new Map<string, Set<string>>();
  for (const { id, file } of mutants) places.set(id, (places.get(id) ?? new Set()).add(file));
  return mutants.map((mutant) =>
    (places.get(mutant.id)?.size ?? 0) > 1 ? { ...mutant, id: hash(mutant.id, mutant.file).slice(0, 12) } : mutant,
  );
}
