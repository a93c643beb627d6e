import { describe, expect, test } from '@jest/globals';

import { consoleBlocks } from './console-blocks.ts';

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

describe('A comment before a block', () => {
  test('names the tests that run it, or says why none does', () => {
    const page =
      '## One\n<!-- run by a.test.ts b.test.ts -->\n```console\ngo\n```\n1. do\n\n   <!-- not run: no registry -->\n   ```console\n   push\n   ```\n';
    expect(consoleBlocks(page)).toEqual([
      { heading: 'One', commands: 'go', trial: { tests: ['a.test.ts', 'b.test.ts'] } },
      { heading: 'One', commands: 'push', trial: { notRun: 'no registry' } },
    ]);
  });

  test('counts only in the line before it, with something to say', () => {
    const page = '<!-- not run: why -->\n\n```console\ngo\n```\n<!-- not run: -->\n```console\nstay\n```\n';
    expect(consoleBlocks(page).map(({ trial }) => trial)).toEqual([undefined, undefined]);
  });
});
