import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { root } from './places.ts';
import { roomOf, rooms } from './sample.ts';

const isGenerated = /(^|\/)generated\//;
const beginnings = [...rooms, 'cmd', 'testing'];

/** The tree's TypeScript: what each file says, and what it imports of the tree. */
export class Sources {
  readonly #texts = new Map<string, string>();
  readonly #imports = new Map<string, readonly string[]>();
  readonly files: readonly string[] = beginnings
    .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: root }))
    .toSorted();
  readonly #known: ReadonlySet<string> = new Set(this.files);

  text(file: string): string {
    const known = this.#texts.get(file) ?? readFileSync(join(root, file), 'utf8');
    this.#texts.set(file, known);
    return known;
  }

  /** The files that the binary is made of, less what is generated: code that only tests use is not judged. */
  product(): readonly string[] {
    const reached = new Set(['cmd/steward.ts', 'clusterstacks/helm/manifest-worker.ts']);
    for (const file of reached) for (const next of this.#importsOf(file)) reached.add(next);
    return [...reached].filter((file) => rooms.some((room) => room === roomOf({ file })) && !isGenerated.test(file));
  }

  /** What a file needs, directly or by others, with how many steps away it is. */
  reach(file: string): ReadonlyMap<string, number> {
    const steps = new Map([[file, 0]]);
    for (const [from, step] of steps)
      for (const next of this.#importsOf(from)) if (!steps.has(next)) steps.set(next, step + 1);
    return steps;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const { importedFiles } = ts.preProcessFile(this.text(file), true, true);
    const found = importedFiles
      .map(({ fileName }) => fileName)
      .filter((name) => name.startsWith('.') && name.endsWith('.ts'))
      .map((name) => normalize(join(dirname(file), name)))
      .filter((name) => this.#known.has(name));
    this.#imports.set(file, found);
    return found;
  }
}
