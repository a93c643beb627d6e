import { describe, expect, test } from '@jest/globals';

import { consoleBlocks } from './how-to-page.ts';

describe('consoleBlocks', () => {
  test('finds commands by the heading that they stand under, several in their order', () => {
    const page = '# Page\n\n## Start\n\n```console\nfirst\nsecond   # why\n```\n\ntext\n\n```console\nthird\n```\n';
    expect(consoleBlocks(page)).toEqual([
      { heading: 'Start', commands: 'first\nsecond   # why' },
      { heading: 'Start', commands: 'third' },
    ]);
  });

  test('takes blocks of a list without its indentation, and no headings or commands from blocks of other languages', () => {
    const page =
      '## One\n1. do\n\n   ```console\n   go\n     on\n   ```\n\n```yaml\n# two\n```\n\n```console\nstop\n```\n';
    expect(consoleBlocks(page)).toEqual([
      { heading: 'One', commands: 'go\n  on' },
      { heading: 'One', commands: 'stop' },
    ]);
  });

  test('finds nothing in a block that never ends', () => {
    expect(consoleBlocks('## One\n```console\ngo\n')).toEqual([]);
  });
});
