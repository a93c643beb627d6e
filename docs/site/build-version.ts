import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { landingPage, missingPage } from './landing-page.ts';
import { menuOf } from './menu.ts';
import { pageRoute } from './page-route.ts';
import { readPages } from './read-pages.ts';
import { RepositoryAddress } from './repository-address.ts';
import { stagePage } from './stage-page.ts';
import type { StagedSite } from './stage-page.ts';

const run = promisify(execFile);

/** A version of Steward whose pages are on the site. */
export interface SiteVersion {
  /** As readers choose it. */
  readonly name: string;
  /** The branch or tag that links to sources lead to. */
  readonly ref: string;
  /** With slashes at both ends. */
  readonly address: string;
  /** Its files. */
  readonly folder: string;
}

/** Builds the pages of one version into a folder; readers can choose the others from them. */
export async function buildVersion(version: SiteVersion, versions: readonly SiteVersion[], out: string): Promise<void> {
  const staged = await mkdtemp(path.join(tmpdir(), 'steward-site-'));
  try {
    const tree = readPages(version.folder);
    const site: StagedSite = {
      base: version.address,
      repository: new RepositoryAddress(version.ref),
      picture: (file) => {
        const at = path.join(version.folder, file);
        return file.endsWith('.svg') && existsSync(at) ? readFileSync(at, 'utf8') : undefined;
      },
    };
    const pages = [...tree.pages].flatMap(([page, text]) => {
      const route = pageRoute(page);
      return route === undefined ? [] : [[`${route}.md`, stagePage(page, text, site)] as const];
    });
    const own = [['index.md', landingPage(tree, site)] as const, ['404.md', missingPage(site)] as const];
    for (const [name, text] of [...pages, ...own]) {
      const file = path.join(staged, 'pages', name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const described = {
      ...{ base: version.address, menu: menuOf(tree), out, repository: RepositoryAddress.home },
      ...{ version: version.name, versions: versions.map(({ name, address }) => ({ name, address })) },
    };
    await writeFile(path.join(staged, 'site.json'), JSON.stringify(described));
    await generate(staged);
  } finally {
    await rm(staged, { recursive: true });
  }
}

async function generate(staged: string): Promise<void> {
  const generator = path.join(import.meta.dirname, 'node_modules/astro/bin/astro.mjs');
  const env = { ...process.env, STEWARD_DOCS: staged, ASTRO_TELEMETRY_DISABLED: '1' };
  const options = { cwd: import.meta.dirname, env, maxBuffer: 1 << 26 };
  await run(process.execPath, [generator, 'build', '--force'], options).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`the generator failed:\n${stdout}${stderr}`, { cause: error });
  });
}
