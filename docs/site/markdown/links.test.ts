import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { linksOf, replaceLinks } from './links.ts';

describe('Links of a Markdown page', () => {
  test('are found with their text, also across lines, in tables and around code', () => {
    const page = 'See [one\npage](a.md#b).\n| [`x`](https://x.example) | ![Two boxes](p.svg) |\n- [[old] name](../c/)';
    expect(linksOf(page)).toEqual([
      { target: 'a.md#b', text: 'one\npage', isPicture: false },
      { target: 'https://x.example', text: '`x`', isPicture: false },
      { target: 'p.svg', text: 'Two boxes', isPicture: true },
      { target: '../c/', text: '[old] name', isPicture: false },
    ]);
  });

  test('are not found in code', () => {
    const page = '`[a](b)` and ``[c](`d`)``\n```yaml\n[e](f)\n```\n1. go\n\n   ```console\n   [g](h)\n   ```\n[i](j)';
    expect(linksOf(page).map(({ target }) => target)).toEqual(['j']);
  });

  test('stay as they are when they are replaced by themselves', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('[a](b)', '![c](d)', '`', '```', '\n', 'text ', '](', '# x')), (parts) => {
        const page = parts.join('');
        const same = replaceLinks(page, ({ isPicture, text, target }) => `${isPicture ? '!' : ''}[${text}](${target})`);
        expect(same).toBe(page);
      }),
    );
  });
});
