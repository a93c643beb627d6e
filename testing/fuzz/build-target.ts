import { join } from 'node:path';
import { build } from 'esbuild';
import type { FuzzTarget } from './fuzz-target.ts';

/**
 * Builds the program that the fuzzer runs: the target with all that it needs in one CommonJS file, because the fuzzer counts branches in what
 * it loads with `require`.
 */
export async function buildTarget({ name }: Pick<FuzzTarget, 'name'>, into: string): Promise<string> {
  const outfile = join(into, `${name}.cjs`);
  const contents = [
    "import { attempt } from './attempt.ts';",
    `import * as file from './targets/${name}.ts';`,
    'const [target] = Object.values(file);',
    'export const fuzz = (input) => attempt(target, input);',
  ].join('\n');
  await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    logLevel: 'error',
  });
  return outfile;
}
