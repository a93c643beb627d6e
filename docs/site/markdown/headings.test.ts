import { describe, expect, test } from '@jest/globals';

import { headingsOf } from './headings.ts';

describe('Headings of a Markdown page', () => {
  test('have the anchors that GitHub gives them', () => {
    const page = "# A b\n## 1. The `kubectl` plugin's _end_\n### See [this](x.md), or **that**\n## A b\n## A b\n";
    expect(headingsOf(page)).toEqual([
      { depth: 1, text: 'A b', anchor: 'a-b' },
      { depth: 2, text: "1. The kubectl plugin's _end_", anchor: '1-the-kubectl-plugins-_end_' },
      { depth: 3, text: 'See this, or that', anchor: 'see-this-or-that' },
      { depth: 2, text: 'A b', anchor: 'a-b-1' },
      { depth: 2, text: 'A b', anchor: 'a-b-2' },
    ]);
  });

  test('are not lines of code', () => {
    expect(headingsOf('```console\n# no\n```\n#no\n# yes')).toEqual([{ depth: 1, text: 'yes', anchor: 'yes' }]);
  });
});
