/** Names of what one tenant has, without the name of the tenant itself. */
export type Belongings = ReadonlyMap<string, readonly string[]>;

/** What one tenant has that the others have not, and the other way round. */
export interface OddOnes {
  readonly doubled: readonly string[];
  readonly missing: readonly string[];
}

/**
 * Compares all tenants with what most of them have: all were asked for alike. An object that a tenant has twice has two names, or is there
 * twice.
 * @param all by tenant.
 */
export function oddOnes(all: Belongings): OddOnes {
  const usual = mostFrequent([...all.values()]);
  const doubled: string[] = [];
  const missing: string[] = [];
  for (const [tenant, names] of all) {
    doubled.push(...without(names, usual).map((name) => `${tenant}: ${name}`));
    missing.push(...without(usual, names).map((name) => `${tenant}: ${name}`));
  }
  return { doubled, missing };
}

function mostFrequent(all: readonly (readonly string[])[]): readonly string[] {
  const counts = new Map<string, { readonly names: readonly string[]; count: number }>();
  for (const names of all) {
    const text = JSON.stringify(names.toSorted());
    const known = counts.get(text) ?? { names, count: 0 };
    known.count += 1;
    counts.set(text, known);
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count)[0]?.names ?? [];
}

/** The names that are more often in the first list. */
function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return names.filter((name) => {
    const at = left.indexOf(name);
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}
