import path from 'node:path';

import { readTrial } from '../../e2e/framework/console-blocks.ts';
import { isExternal } from './broken-links.ts';
import { keepFlags } from './markdown/flags.ts';
import { replaceLinks } from './markdown/links.ts';
import { pageRoute } from './page-route.ts';
import type { RepositoryAddress } from './repository-address.ts';

/** What the pages of one version have in common. */
export interface StagedSite {
  /** With slashes at both ends, such as `/v0.17.0/`. */
  readonly base: string;
  readonly repository: RepositoryAddress;
  /** The content of a picture below docs/, by its path from the root. */
  readonly picture: (file: string) => string | undefined;
}

/** A page of docs/ as the generator takes it: with front matter, with addresses of the site, and without its first heading. */
export function stagePage(page: string, markdown: string, site: StagedSite): string {
  const [heading = '', title = page] = /^# (.*)$/m.exec(markdown) ?? [];
  const body = siteBody(page, markdown.replace(heading, ''), site);
  const isGenerated = /^<!-- (Made|Written) by/.test(markdown);
  const front = {
    title: withoutMarks(title),
    description: descriptionOf(body),
    editUrl: isGenerated ? false : site.repository.edit(page),
  };
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---', '', body].join('\n');
}

/** Markdown of a page of this repository with addresses and pictures as the site shows them. */
export function siteBody(page: string, markdown: string, site: StagedSite): string {
  return withBoxes(asShell(withoutTrials(withLinks(page, keepFlags(markdown), site))));
}

/** Draws the boxes of a checklist: as disabled fields of a form they would have no name for those who hear the page. */
function withBoxes(markdown: string): string {
  return markdown.replaceAll(/^( *)- \[ \] /gm, '$1- ☐ ');
}

/** Highlights commands as those of a shell: as `console`, they would count as what a program has printed. */
function asShell(markdown: string): string {
  return markdown.replaceAll(/^( *)```console$/gm, '$1```bash');
}

function withoutMarks(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*\\]/g, '');
}

/** The first paragraph, for search engines; empty when the page begins with something else. */
function descriptionOf(body: string): string {
  const first = body.split(/\n{2,}/).find((part) => part.trim() !== '' && !part.startsWith('<!--')) ?? '';
  return /^[A-Z`[]/.test(first) ? withoutMarks(first).replaceAll(/\s+/g, ' ').slice(0, 300) : '';
}

function withLinks(page: string, markdown: string, site: StagedSite): string {
  return replaceLinks(markdown, ({ target, text, isPicture }) => {
    if (isExternal(target)) return `${isPicture ? '!' : ''}[${text}](${target})`;
    const [file = '', anchor] = target.split('#', 2);
    if (file === '') return `[${text}](${target})`;
    const leadsTo = path.posix.join(path.posix.dirname(page), file);
    if (isPicture) return pictureHtml(text, leadsTo, site);
    const route = pageRoute(leadsTo);
    const address = route === undefined ? site.repository.show(leadsTo) : `${site.base}${route}/`;
    return `[${text}](${anchor === undefined ? address : `${address}#${anchor}`})`;
  });
}

/** In the page itself, so that the colors follow the reader's choice; in one line, as Markdown wants it. */
function pictureHtml(text: string, file: string, { picture, repository }: StagedSite): string {
  const content = picture(file);
  if (content === undefined) return `![${text}](${repository.show(file)}?raw=true)`;
  return `<figure class="picture" tabindex="0">${content.replaceAll(/\s*\n\s*/g, ' ').trim()}</figure>`;
}

/**
 * Without the comments that say who tries the block of commands below them: they are for authors, and readers took them for warnings.
 * The page `Commands and tests` lists them all.
 */
function withoutTrials(markdown: string): string {
  let inBlock = false;
  const lines = markdown.split('\n').filter((line) => {
    if (/^\s*```/.test(line)) inBlock = !inBlock;
    return inBlock || readTrial(line) === undefined;
  });
  return lines.join('\n');
}
