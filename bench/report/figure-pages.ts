import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { benchmarksPage } from './benchmarks-page.ts';
import { datastoreFigures } from './datastore-figures.ts';
import type { DatastoreRow } from './datastore-figures.ts';
import { withFigures } from './figures.ts';
import { headlineFigures } from './headline-figures.ts';
import { readRecorded } from './recorded.ts';
import { readResult } from './result-file.ts';

/** The pages with figures, by their path in this repository, with the figures of the committed results. */
export async function figurePages(root: string): Promise<ReadonlyMap<string, string>> {
  const [recorded, datastores] = await Promise.all([readRecorded(), readResult<DatastoreRow>('datastores')]);
  const figures = [
    ['README.md', headlineFigures(recorded)],
    ['docs/explanation/choosing-a-datastore.md', datastoreFigures(datastores)],
  ] as const;
  const pages = figures.map(async ([page, text]) => {
    const content = await readFile(path.join(root, page), 'utf8');
    return [page, withFigures(content, text)] as const;
  });
  return new Map([...(await Promise.all(pages)), ['docs/reference/benchmarks.md', benchmarksPage(recorded)]]);
}
