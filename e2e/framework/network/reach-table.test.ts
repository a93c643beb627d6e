import { describe, expect, test } from '@jest/globals';

import { allOpen, printTable, reachTable, tableBelow } from './reach-table.ts';

const from = (name: string, ...open: readonly string[]) => ({ name, dial: () => Promise.resolve(new Set(open)) });

describe('A table of who reaches what', () => {
  const table = reachTable(
    [from('shop', 'a:1', 'b:2'), from('a stranger', 'b:2')],
    [
      { name: 'API server', at: 'a:1' },
      { name: 'store', at: 'b:2' },
    ],
  );

  test('has a row for each target and a column for each source', async () => {
    expect(await table).toEqual([
      ['To \\ from', 'shop', 'a stranger'],
      ['API server', 'open', '–'],
      ['store', 'open', 'open'],
    ]);
  });

  test('can be printed, and is read from a page as it was printed', async () => {
    const page = `# Page\n\n| other |\n| --- |\n| table |\n\n## Who\n\nText.\n\n${printTable(await table)}\n\nMore.\n`;
    expect(tableBelow('## Who', page)).toEqual(await table);
    expect(() => tableBelow('## Whom', page)).toThrow('The page has no table below "## Whom".');
  });

  test('has only open cells if every source reaches every target', async () => {
    expect(allOpen(await table)).toEqual([
      ['To \\ from', 'shop', 'a stranger'],
      ['API server', 'open', 'open'],
      ['store', 'open', 'open'],
    ]);
  });
});
