/** An entry of package-lock.json (lockfileVersion 3). */
export interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The packages of package-lock.json by their folders; `''` is the project itself. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** A package that the program needs at run time. */
export interface NeededPackage extends LockedPackage {
  readonly name: string;
  readonly version: string;
}

/**
 * What the project's dependencies and theirs need, each as npm lays it out, sorted. (`npm sbom --omit=dev` leaves out what a
 * development tool needs, too.) Throws for a dependency that the lock does not know.
 */
export function neededPackages(packages: LockedPackages): readonly NeededPackage[] {
  const found = new Map<string, NeededPackage>();
  const walk = (name: string, from: string): void => {
    const folder = folderOf(packages, name, from);
    if (found.has(folder)) return;
    const entry = packages[folder] ?? {};
    found.set(folder, { ...entry, name, version: entry.version ?? '' });
    for (const inner of Object.keys(entry.dependencies ?? {})) walk(inner, folder);
  };
  for (const name of Object.keys(packages['']?.dependencies ?? {})) walk(name, '');
  return [...found.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

/** Node's own look-up: beside, then in every parent. */
function folderOf(packages: LockedPackages, name: string, from: string): string {
  for (let base = from; ; base = base.slice(0, Math.max(base.lastIndexOf('/node_modules/'), 0))) {
    const folder = `${base}${base === '' ? '' : '/'}node_modules/${name}`;
    if (packages[folder] !== undefined) return folder;
    if (base === '')
      throw new Error(
        `package-lock.json does not contain ${name}, which ${from || 'the project'} needs; run npm install`,
      );
  }
}
