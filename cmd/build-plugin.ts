import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { kubectlCompletion } from './plugin/completion/shell-scripts.ts';

const root = join(import.meta.dirname, '..');
/** Where the plugin goes: the first argument, or `dist/plugin/`. */
const out = resolve(process.argv[2] ?? join(root, 'dist', 'plugin'));
const { version: ownVersion } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
/** What the program calls itself: the second argument, or the version of package.json. */
const version = process.argv[3] ?? ownVersion;

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const program = join(out, 'kubectl-steward');
await build({
  entryPoints: [join(import.meta.dirname, 'kubectl-steward.ts')],
  absWorkingDir: root,
  outfile: program,
  bundle: true,
  minify: true,
  keepNames: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  define: { 'globalThis.STEWARD_VERSION': JSON.stringify(`v${version}`) },
  banner: {
    js: [
      '#!/usr/bin/env node',
      // CommonJS packages inside an ES module bundle still call `require` for Node's own modules.
      "import { createRequire as createRequireOfBundle } from 'node:module';",
      'const require = createRequireOfBundle(import.meta.url);',
    ].join('\n'),
  },
  logLevel: 'warning',
});
await chmod(program, 0o755);
await writeFile(join(out, 'kubectl_complete-steward'), kubectlCompletion, { mode: 0o755 });
console.log(`${program}: version v${version}`);
