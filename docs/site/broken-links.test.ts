import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { brokenLinks } from './broken-links.ts';
import { readPages } from './read-pages.ts';

describe('Links of the documentation', () => {
  test('all lead to a file, and to a heading of it', () => {
    const tree = readPages(path.join(import.meta.dirname, '../..'));
    expect(tree.pages.size).toBeGreaterThan(70);
    expect(brokenLinks(tree)).toEqual([]);
  });

  test('are reported with their page when they do not', () => {
    const pages = new Map([
      [
        'docs/a.md',
        '# A\n[b](b.md#one) [c](c.md) [d](b.md#two) [e](#a) [f](#g) [h](../README.md) [i](https://i.example)',
      ],
      ['docs/b.md', '## One'],
    ]);
    const exists = (file: string): boolean => pages.has(file) || file === 'README.md';
    expect(brokenLinks({ pages, exists })).toEqual([
      'docs/a.md: c.md leads to no file',
      'docs/a.md: docs/b.md has no heading #two',
      'docs/a.md: docs/a.md has no heading #g',
    ]);
  });
});
