/**
 * Builds the documentation as a site.
 *
 *     npm run docs                          the working tree, into dist/docs
 *     npm run docs -- --with v0.17.0        also that tag, into dist/docs/v0.17.0; repeatable
 *     npm run docs -- --base /steward/      for a server that serves it below that path
 *     npm run docs -- --serve 8080          and serves it at 127.0.0.1 afterwards
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { buildVersion } from './build-version.ts';
import type { SiteVersion } from './build-version.ts';
import { builtLinks } from './built-links.ts';
import { serveFolder } from './serve-folder.ts';

const root = path.join(import.meta.dirname, '../..');
const out = path.join(root, 'dist/docs');

/** The files of a tag, in a folder that the caller removes. */
function checkOut(tag: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'steward-docs-'));
  const archive = execFileSync('git', ['archive', tag], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  return folder;
}

function installGenerator(): void {
  if (existsSync(path.join(import.meta.dirname, 'node_modules/astro'))) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, stdio: 'inherit' });
}

const usage = 'usage: npm run docs [-- --base /path/] [--with <tag>]… [--serve <port>]';

interface Options {
  readonly base: string;
  readonly tags: readonly string[];
  readonly port: number | undefined;
}

/** What the command line says, or what is wrong with it. */
function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        base: { type: 'string', default: '/' },
        with: { type: 'string', multiple: true, default: [] },
        serve: { type: 'string' },
      },
    });
    const base = values.base.replace(/\/*$/, '/');
    if (!base.startsWith('/')) return `--base ${values.base} has to begin with a slash`;
    const port = values.serve === undefined ? undefined : Number(values.serve);
    if (port !== undefined && !(port > 0 && port < 65_536)) return `--serve ${values.serve ?? ''} is no port`;
    return { base, tags: values.with, port };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'string') {
    console.error(`${options}\n${usage}`);
    return 2;
  }
  const { base, tags: names, port } = options;
  installGenerator();
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  const current: SiteVersion = { name: `v${version} (main)`, ref: 'main', address: base, folder: root };
  const tags = names.map((tag): SiteVersion => ({
    name: tag,
    ref: tag,
    address: `${base}${tag}/`,
    folder: checkOut(tag),
  }));
  const versions = [current, ...tags];
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  try {
    for (const one of versions) await buildVersion(one, versions, path.join(out, one.address.slice(base.length)));
  } finally {
    for (const { folder } of tags) rmSync(folder, { recursive: true });
  }
  const broken = builtLinks(out, base);
  for (const line of broken) console.error(line);
  console.log(`${versions.length} version(s) in dist/docs, ${broken.length} broken link(s)`);
  if (port !== undefined) await serveFolder(out, base, port);
  return broken.length === 0 ? 0 : 1;
}

process.exitCode = await main();
