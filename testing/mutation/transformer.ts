import { createTransformer } from '@swc/jest';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
/** For each file whose text is another one, from the root: where the other text is. */
const others = JSON.parse(process.env.STEWARD_MUTATION_TEXTS ?? '{}') as Readonly<Record<string, string>>;

const textOf = (source: string, path: string): string => {
  const other = others[relative(root, path)];
  return other === undefined ? source : readFileSync(other, 'utf8');
};

type Swc = Required<ReturnType<typeof createTransformer>>;

/** swc as the tests have it, that reads a mutant's text in place of its file's: no file of the tree is touched. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default {
  createTransformer(options: Parameters<typeof createTransformer>[0]): Swc {
    const swc = createTransformer(options) as Swc;
    return {
      ...swc,
      process: (source, path, how) => swc.process(textOf(source, path), path, how),
      processAsync: (source, path, how) => swc.processAsync(textOf(source, path), path, how),
      getCacheKey: (source, path, how) => swc.getCacheKey(textOf(source, path), path, how),
    };
  },
};
