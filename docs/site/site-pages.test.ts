import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { landingPage, missingPage } from './landing-page.ts';
import { menuOf } from './menu.ts';
import { readPages } from './read-pages.ts';
import { RepositoryAddress } from './repository-address.ts';

const tree = {
  pages: new Map([
    ['README.md', '# Steward\n\nSteward runs\npods. It is `small`.\n\n![A picture](docs/pictures/p.svg)\n\n## More\n'],
    ['docs/README.md', '# Docs\n## Tutorials\n[a](tutorial/a.md)\n## Reference\n### Made\n[b](reference/b.md)\n'],
    ['docs/tutorial/a.md', '# The `a`\n'],
    ['docs/reference/b.md', '# B\n'],
  ]),
  exists: () => true,
};
const site = { base: '/v1/', repository: new RepositoryAddress('main'), picture: () => '<svg/>' };

describe('The first page of the site', () => {
  test('has the first paragraph and the picture of README.md, and leads to every group of the list', () => {
    const page = landingPage(tree, site);
    expect(page).toContain('"tagline":"Steward runs pods."');
    expect(page).toContain('\nIt is `small`.\n\n<figure class="picture" tabindex="0"><svg/></figure>\n');
    expect(page).toContain('<h2>Tutorials</h2><ul><li><a href="/v1/tutorial/a/">The a</a></li></ul>');
    expect(page).toContain('<h2>Reference</h2><ul><li><a href="/v1/reference/b/">B</a></li></ul>');
  });

  test('leads to the upgrade, to backups and to troubleshooting', () => {
    const real = landingPage(readPages(path.join(import.meta.dirname, '../..')), site);
    for (const name of ['get-started', 'upgrade-steward', 'back-up', 'troubleshoot'])
      expect(real).toContain(`<li><a href="/v1/how-to/${name}/">`);
    expect(real).toMatch(/<a href="\/v1\/pages\/#how-to-guides">All \d\d pages<\/a>/);
  });

  test('has the menu, which is all that a narrow screen shows of the choices, and a title of its own', () => {
    const page = landingPage(tree, site);
    expect(page).not.toContain('template');
    expect(page).toContain('head: [{"tag":"title","content":"Steward: ');
  });
});

describe('The page at an address that has none', () => {
  test('says so, leads to the pages of its version, and is not found by a search', () => {
    const page = missingPage(site);
    expect(page).toContain('title: "This page does not exist"');
    expect(page).toContain('](/v1/pages/)');
    expect(page).toContain('](/v1/)');
    expect(page).toContain('pagefind: false');
  });
});

describe('The menu beside a page', () => {
  test('has the titles of the pages, and groups that open when they are wanted', () => {
    expect(menuOf(tree)).toEqual([
      { label: 'Find a page', link: '/pages/' },
      { label: 'Tutorials', collapsed: false, items: [{ label: 'The a', link: '/tutorial/a/' }] },
      {
        label: 'Reference',
        collapsed: true,
        items: [{ label: 'Made', collapsed: true, items: [{ label: 'B', link: '/reference/b/' }] }],
      },
    ]);
  });
});
