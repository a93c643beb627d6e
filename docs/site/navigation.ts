import path from 'node:path';

import { linksOf } from './markdown/links.ts';

/** A part of docs/README.md: a heading, the pages that it names, and the headings below it. */
export interface NavigationGroup {
  readonly label: string;
  /** Paths from the root of the repository, each once. */
  readonly pages: readonly string[];
  readonly groups: readonly NavigationGroup[];
}

interface OpenGroup extends NavigationGroup {
  readonly pages: string[];
  readonly groups: OpenGroup[];
}

/** The page that lists all pages, and thereby orders them in the site's menu. */
export const listOfPages = 'docs/README.md';

/** What the list says of the menu: headings of the second level are groups, those of the third are groups in them. */
export function navigationOf(list: string): readonly NavigationGroup[] {
  const groups: OpenGroup[] = [];
  const seen = new Set<string>();
  let current: OpenGroup | undefined;
  for (const line of list.split('\n')) {
    const [, signs, label = ''] = /^(##|###) (.*)$/.exec(line) ?? [];
    if (signs !== undefined) {
      current = { label, pages: [], groups: [] };
      const parent = signs === '###' ? groups.at(-1)?.groups : groups;
      (parent ?? groups).push(current);
    }
    for (const { target } of linksOf(line)) {
      const [file = ''] = target.split('#', 1);
      const page = path.posix.join(path.posix.dirname(listOfPages), file);
      if (!file.endsWith('.md') || !page.startsWith('docs/') || seen.has(page)) continue;
      seen.add(page);
      current?.pages.push(page);
    }
  }
  return groups;
}
