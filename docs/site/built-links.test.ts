import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, test } from '@jest/globals';

import { builtLinks } from './built-links.ts';

test('Addresses of the built site that lead nowhere are reported, also those without the base', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'built-'));
  try {
    await mkdir(path.join(folder, 'a'));
    const links = [
      '../#top',
      '/docs/a/',
      '/docs/x.css',
      '#here',
      '/a/',
      '/docs/b/',
      '/docs/#none',
      'https://x.example/y',
    ];
    const html = `<p id="here">${links.map((link) => `<a href="${link}">`).join('')}`;
    await writeFile(path.join(folder, 'index.html'), '<p id="top"><img src="data:x">');
    await writeFile(path.join(folder, 'x.css'), '');
    await writeFile(path.join(folder, 'a/index.html'), html);
    expect(builtLinks(folder, '/docs/')).toEqual([
      'a/index.html: /a/ is not below /docs/',
      'a/index.html: /docs/b/ leads to no page',
      'a/index.html: /docs/#none has no anchor',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
