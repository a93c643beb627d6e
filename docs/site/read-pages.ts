import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The Markdown pages of a tree of this repository, and what else is in it. */
export interface DocsTree {
  /** Text by path from the root, such as `docs/README.md`. */
  readonly pages: ReadonlyMap<string, string>;
  readonly exists: (file: string) => boolean;
}

/** Pages outside of docs/ that link into it. */
const outside = /^[A-Z_]+\.md$/;

/** Reads docs/, apart from the site's own folder, and the pages at the root. */
export function readPages(root: string): DocsTree {
  const below = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith(`site${path.sep}`))
    .map((file) => path.posix.join('docs', file.replaceAll(path.sep, '/')));
  const files = [...below, ...readdirSync(root).filter((file) => outside.test(file))].toSorted();
  return {
    pages: new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')])),
    exists: (file) => existsSync(path.join(root, file)),
  };
}
