import { expect, test } from '@jest/globals';

import { keepFlags } from './flags.ts';

test('Flags outside of code keep both dashes, and nothing else of a page is changed', () => {
  expect(keepFlags('With --dry-run=client, (--wait) or\n--undo.')).toBe(
    String.raw`With \-\-dry-run=client, (\-\-wait) or` + '\n' + String.raw`\-\-undo.`,
  );
  const rest =
    '<!-- not run: needs --x -->\n```console\ngo --y\n```\n`--z` a--b\n\n---\n\n| a |\n| --- |\n| 1 -- 2 |\n<!-- c --> ``--`d` ``';
  expect(keepFlags(rest)).toBe(rest);
});
