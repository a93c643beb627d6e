import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { listOfPages, navigationOf } from './navigation.ts';
import type { NavigationGroup } from './navigation.ts';
import { readPages } from './read-pages.ts';

const pagesOf = ({ pages, groups }: NavigationGroup): readonly string[] => [...pages, ...groups.flatMap(pagesOf)];

describe('The menu of the site', () => {
  test('leads to every page of the documentation', () => {
    const { pages } = readPages(path.join(import.meta.dirname, '../..'));
    const listed = navigationOf(pages.get(listOfPages) ?? '').flatMap(pagesOf);
    const all = [...pages.keys()].filter((page) => page.startsWith('docs/') && page !== listOfPages);
    expect(listed.toSorted()).toEqual(all.toSorted());
  });

  test('has the headings of the list as its groups, and each page once', () => {
    const list = '# Docs\n## One\n| [a](a.md) · [b](x/b.md#c) |\n### Two\n[a](a.md) [d](d.md) [e](../E.md)\n## Three\n';
    expect(navigationOf(list)).toEqual([
      {
        label: 'One',
        pages: ['docs/a.md', 'docs/x/b.md'],
        groups: [{ label: 'Two', pages: ['docs/d.md'], groups: [] }],
      },
      { label: 'Three', pages: [], groups: [] },
    ]);
  });
});
