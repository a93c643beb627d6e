import { headingsOf } from './markdown/headings.ts';
import { listOfPages, navigationOf } from './navigation.ts';
import { pageRoute } from './page-route.ts';
import type { DocsTree } from './read-pages.ts';
import { siteBody } from './stage-page.ts';
import type { StagedSite } from './stage-page.ts';

/** So many pages of a group are listed: enough for those that people need after the installation. */
const shown = 8;

/** The first page of the site: the first paragraph and the picture of README.md, and the groups of the menu. */
export function landingPage({ pages }: DocsTree, site: StagedSite): string {
  const readme = pages.get('README.md') ?? '';
  const [, tagline = '', rest = ''] = /^# Steward\n+([\s\S]+?\.)\s([\s\S]+?)\n\n/m.exec(readme) ?? [];
  const [picture = ''] = /^!\[.*\]\(.*\)$/m.exec(readme) ?? [];
  const start = pages.has('docs/how-to/get-started.md')
    ? 'docs/how-to/get-started.md'
    : 'docs/tutorial/first-tenant.md';
  const link = (page: string): string => `${site.base}${pageRoute(page) ?? ''}/`;
  const front = {
    title: 'Steward',
    description: tagline.replaceAll('\n', ' '),
    editUrl: false,
    tableOfContents: false,
    head: [{ tag: 'title', content: 'Steward: control planes of Kubernetes as pods' }],
    hero: {
      tagline: tagline.replaceAll('\n', ' '),
      actions: [
        { text: 'Get started', link: link(start), icon: 'right-arrow' },
        { text: 'Find a page', link: link(listOfPages), variant: 'minimal' },
      ],
    },
  };
  const groups = navigationOf(pages.get(listOfPages) ?? '').map(({ label, pages: own, groups: inside }) => {
    const all = [...own, ...inside.flatMap((group) => group.pages)];
    const items = all.slice(0, shown).map((page) => `<li><a href="${link(page)}">${titleOf(page, pages)}</a></li>`);
    const anchor = headingsOf(`# ${label}`)[0]?.anchor ?? '';
    if (all.length > shown) items.push(`<li><a href="${link(listOfPages)}#${anchor}">All ${all.length} pages</a></li>`);
    return `<section><h2>${label}</h2><ul>${items.join('')}</ul></section>`;
  });
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const body = siteBody('README.md', `${rest}\n\n${picture}`, site);
  return ['---', ...lines, '---', '', body, '', `<div class="groups">${groups.join('')}</div>`, ''].join('\n');
}

/** The first heading of a page. */
export function titleOf(page: string, pages: DocsTree['pages']): string {
  const [, title = page] = /^# (.*)$/m.exec(pages.get(page) ?? '') ?? [];
  return title.replaceAll(/[`*]/g, '');
}

/** What readers see at an address that has no page. */
export function missingPage({ base }: Pick<StagedSite, 'base'>): string {
  const front = { title: 'This page does not exist', editUrl: false, tableOfContents: false, pagefind: false };
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const text = `It may have moved, or another version of Steward has it. Search for it, [find it in the list of all pages](${base}pages/), or begin at [the first page](${base}).`;
  return ['---', ...lines, '---', '', text, ''].join('\n');
}
