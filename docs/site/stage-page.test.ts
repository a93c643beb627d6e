import { describe, expect, test } from '@jest/globals';

import { RepositoryAddress } from './repository-address.ts';
import { stagePage } from './stage-page.ts';
import type { StagedSite } from './stage-page.ts';

const home = RepositoryAddress.home;
const site: StagedSite = {
  base: '/v1/',
  repository: new RepositoryAddress('v1'),
  picture: (file) => (file === 'docs/pictures/p.svg' ? '<svg>\n  <g/>\n</svg>\n' : undefined),
};
const staged = (markdown: string, page = 'docs/how-to/a.md'): string =>
  stagePage(page, `# The \`a\`\n\n${markdown}`, site);
const bodyOf = (markdown: string): string => staged(markdown).split('---\n').at(-1)?.trim() ?? '';

describe('A page on the site', () => {
  test('has its first heading as title, its first paragraph as description and a link to its source', () => {
    expect(staged('What [it](b.md)\nis.\n\nMore.').split('\n').slice(0, 5)).toEqual([
      '---',
      'title: "The a"',
      'description: "What it is."',
      `editUrl: "${home}/edit/v1/docs/how-to/a.md"`,
      '---',
    ]);
    expect(stagePage('docs/a.md', '<!-- Made by `npm run gen`. -->\n\n# A\n', site)).toContain('editUrl: false');
  });

  test('links to other pages of the site, and for all else to the sources of its version', () => {
    expect(
      bodyOf(
        '[b](b.md#c) [list](../README.md) [r](../../README.md#d) [dir](../../config) [here](#e) [out](https://x.y)',
      ),
    ).toBe(
      `[b](/v1/how-to/b/#c) [list](/v1/pages/) [r](${home}/blob/v1/README.md#d) [dir](${home}/blob/v1/config) [here](#e) [out](https://x.y)`,
    );
  });

  test('contains its pictures, which follow its colors', () => {
    expect(bodyOf('![p](../pictures/p.svg)')).toBe('<figure class="picture" tabindex="0"><svg> <g/> </svg></figure>');
    expect(bodyOf('![q](../pictures/q.png)')).toBe(`![q](${home}/blob/v1/docs/pictures/q.png?raw=true)`);
  });

  test('keeps the dashes of flags, which are no dash of a sentence', () => {
    expect(bodyOf('Use --wait.')).toBe(String.raw`Use \-\-wait.`);
    expect(staged('Use --wait.')).toContain('description: "Use --wait."');
    expect(bodyOf('![p](../pictures/p.svg)')).not.toContain('\\');
  });

  test('has the boxes of a checklist as signs', () => {
    expect(bodyOf('- [ ] one\n  - [ ] two')).toBe('- ☐ one\n  - ☐ two');
  });

  test('does not show the comments that say who runs commands, which are for authors', () => {
    expect(
      bodyOf(
        '<!-- run by e2e/x.test.ts -->\n```console\ngo\n<!-- not run: shown -->\n```\nThen:\n\n   <!-- not run: no cloud -->\n   ```console\n   up\n   ```',
      ),
    ).toBe(
      ['```bash', 'go', '<!-- not run: shown -->', '```', 'Then:', '', '   ```bash', '   up', '   ```'].join('\n'),
    );
  });
});
