import path from 'node:path';

import { headingsOf } from './markdown/headings.ts';
import { linksOf } from './markdown/links.ts';
import type { DocsTree } from './read-pages.ts';

/** Whether a link leads out of the repository, such as `https://kubernetes.io`. */
export function isExternal(target: string): boolean {
  return /^[a-z][a-z+.-]*:/i.test(target);
}

/** Links of all pages that lead to no file, or to no heading of it, one line each. */
export function brokenLinks(tree: DocsTree): readonly string[] {
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsOf = (page: string): ReadonlySet<string> => {
    const known = anchors.get(page) ?? new Set(headingsOf(tree.pages.get(page) ?? '').map(({ anchor }) => anchor));
    anchors.set(page, known);
    return known;
  };
  const problem = (page: string, target: string): string | undefined => {
    const [file = '', anchor] = target.split('#', 2);
    const leadsTo = file === '' ? page : path.posix.join(path.posix.dirname(page), file).replace(/\/$/, '');
    if (!tree.exists(leadsTo)) return `${page}: ${target} leads to no file`;
    if (anchor === undefined || !tree.pages.has(leadsTo) || anchorsOf(leadsTo).has(anchor)) return undefined;
    return `${page}: ${leadsTo} has no heading #${anchor}`;
  };
  return [...tree.pages].flatMap(([page, text]) =>
    linksOf(text)
      .filter(({ target }) => !isExternal(target))
      .flatMap(({ target }) => problem(page, target) ?? []),
  );
}
