import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { readPages } from '../read-pages.ts';
import { lostText } from './lost-text.ts';

describe('Text that the site would not show as it is written', () => {
  test('is found outside of code and comments', () => {
    const page = [
      '<!-- Made by `npm run gen`. --> The Secret <name>-ca, and a flag --max-pods.<br>',
      '## stack build <folder of a release>',
      '`<code>` and ``a `--b` <c>``',
      '```console',
      'kubectl get <name> --all',
      '```',
      '| --- | --- |',
      '1 < 2 -- 3 > 2, see <https://x.example/y>',
    ];
    expect(lostText(page.join('\n'))).toEqual(['<name>', '<folder of a release>', '--max-pods']);
  });

  const { pages } = readPages(path.join(import.meta.dirname, '../../..'));
  test.each([...pages.keys()])('is not in %s', (page) => {
    expect(lostText(pages.get(page) ?? '')).toEqual([]);
  });
});
