import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { thirdPartyNotices } from './third-party-notices.ts';

const root = join(import.meta.dirname, '..');
/** Where the bundle goes: the first argument, or `dist/`. */
const out = resolve(process.argv[2] ?? join(root, 'dist'));

/**
 * Packages that read files beside themselves at run time and therefore travel whole: etcd3 loads its protocol
 * definitions. What it shares with our own code is there once. Everything else is in the bundle.
 */
const whole = ['etcd3', '@grpc/grpc-js', '@grpc/proto-loader'];

interface PackageJson {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The folder of each package and of all that it depends on, as npm laid them out. */
async function closureOf(names: readonly string[], from = root): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const walk = async (name: string, base: string): Promise<void> => {
    const folder = await folderOf(name, base);
    if (found.has(folder)) return;
    found.add(folder);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as PackageJson;
    for (const dependency of Object.keys(manifest.dependencies ?? {})) await walk(dependency, folder);
  };
  for (const name of names) await walk(name, from);
  return found;
}

/** Node's own look-up: `node_modules` here, then in every parent up to the project. */
async function folderOf(name: string, base: string): Promise<string> {
  for (let folder = base; folder.length >= root.length; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    try {
      await readFile(join(candidate, 'package.json'));
      return candidate;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  throw new Error(`${name} is not installed; run \`npm ci\` first.`);
}

const { version: ownVersion } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as PackageJson;
/** What the program calls itself: the second argument, or the version of package.json. */
const version = process.argv[3] ?? ownVersion;
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
/** Maps name sources by their way from here, so that a bundle is the same wherever it is written to. */
const place = join(root, 'dist');
const { metafile, outputFiles } = await build({
  // The program of a worker thread is in the same folder as the one that starts it.
  entryPoints: [
    { in: join(import.meta.dirname, 'steward.ts'), out: 'steward' },
    { in: join(root, 'clusterstacks', 'helm', 'manifest-worker.ts'), out: 'manifest-worker' },
  ],
  absWorkingDir: root,
  outdir: place,
  write: false,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  // What is imported only when it is needed, such as the plugin and the AWS SDK, is a file of its own: the manager reads 20 MB less.
  splitting: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
  external: whole,
  define: { 'globalThis.STEWARD_VERSION': JSON.stringify(`v${version}`) },
  // CommonJS packages inside an ES module bundle still call `require` for Node's own modules.
  banner: {
    js: [
      // Source maps are not read at run time: parsed they hold 30 MB. A small young generation suits long-lived caches: with 8 MiB in place of the
      // default of 16, little is kept; with 2, a burst of work takes an eighth more CPU time, and the old generation more memory.
      '#!/nodejs/bin/node --max-semi-space-size=8',
      "import { createRequire as createRequireOfBundle } from 'node:module';",
      'const require = createRequireOfBundle(import.meta.url);',
    ].join('\n'),
  },
  logLevel: 'warning',
});
for (const { path, contents, text } of outputFiles) {
  const file = join(out, relative(place, path));
  await mkdir(dirname(file), { recursive: true });
  // The program is started as it is.
  await writeFile(file, contents, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}
const folders = [...(await closureOf(whole))].map((folder) => folder.slice(root.length + 1));
for (const folder of folders) await cp(join(root, folder), join(out, folder), { recursive: true });
/** The folders of the packages of which something is in the bundle. */
const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput === 0 ? [] : (/^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  ),
);
// The bill of materials of a release is made of this list.
const packages = [...new Set([...bundled, ...folders])].sort();
await writeFile(
  join(out, 'package.json'),
  `${JSON.stringify({ name: 'steward', version, type: 'module', packages })}\n`,
);
console.log(`${join(out, 'steward.mjs')}: version v${version}`);
await writeFile(join(out, 'THIRD-PARTY-NOTICES.txt'), thirdPartyNotices(root, packages));
