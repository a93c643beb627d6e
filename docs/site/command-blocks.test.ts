import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { consoleBlocks } from '../../e2e/framework/console-blocks.ts';
import { readPages } from './read-pages.ts';

const root = path.join(import.meta.dirname, '../..');
const { pages } = readPages(root);
const blocks = [...pages].flatMap(([page, text]) => consoleBlocks(text).map((block) => ({ page, ...block })));
const where = ({ page, heading }: (typeof blocks)[number]): string => `${page}: ${heading}`;

/** A test with the files of this repository that it imports, directly or not. */
function sourcesOf(file: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(file)) return seen;
  const text = readFileSync(path.join(root, file), 'utf8');
  seen.set(file, text);
  for (const [, imported = ''] of text.matchAll(/from '(\.[^']+\.ts)'/g)) {
    const next = path.posix.join(path.posix.dirname(file), imported);
    // What opens pages is in these folders; the product itself runs none.
    if (/^(e2e|testing|docs)\//.test(next)) sourcesOf(next, seen);
  }
  return seen;
}

const sources = new Map<string, string>();
function textOf(test: string): string {
  const known = sources.get(test) ?? [...sourcesOf(test).values()].join('\n');
  sources.set(test, known);
  return known;
}

/** Whether a test opens a page: it names the file, with or without its ending. */
function opens(test: string, page: string): boolean {
  const name = path.posix.basename(page, '.md');
  return new RegExp(`['/"]${name}(\\.md)?['"]`).test(textOf(test));
}

describe('Every block of commands of the pages', () => {
  test('is found', () => {
    expect(blocks.length).toBeGreaterThan(150);
  });

  test('says which test runs it, or why none does', () => {
    expect(blocks.filter(({ trial }) => trial === undefined).map(where)).toEqual([]);
  });

  test('calls the manager by the one name that it has', () => {
    // The Go Steward had another one.
    const own = blocks.filter(({ heading }) => heading !== "From the Go Steward's chart");
    const names = own.flatMap(({ commands }) =>
      [...commands.matchAll(/\bdeploy(?:ment)?(?:\/| )(steward[\w-]*)/g)].map(([, name]) => name),
    );
    expect(names.length).toBeGreaterThan(5);
    expect(new Set(names)).toEqual(new Set(['steward-controller-manager']));
  });

  test('names tests that exist and open its page, run the same commands of another page, or contain them', () => {
    const wrong = blocks.flatMap((block) => {
      if (block.trial === undefined || 'notRun' in block.trial) return [];
      const same = blocks.filter(({ commands }) => commands === block.commands).map(({ page }) => page);
      return block.trial.tests
        .filter(
          (file) =>
            !existsSync(path.join(root, file)) ||
            !(same.some((page) => opens(file, page)) || textOf(file).includes(block.commands)),
        )
        .map((file) => `${where(block)}: ${file} does not run it`);
    });
    expect(wrong).toEqual([]);
  });
});
