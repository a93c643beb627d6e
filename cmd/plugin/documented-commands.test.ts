import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from '@jest/globals';
import { consoleBlocks } from '../../e2e/framework/console-blocks.ts';
import { commands } from './registry.ts';
import { switchValues } from './frame/switch-values.ts';
import { pluginProgram } from './program.ts';
import { systemWorld } from './system-world.ts';

const docs = join(import.meta.dirname, '../../docs');

/** Every command line that a page shows, without redirections and comments. */
function shown(page: string): readonly string[] {
  return [...consoleBlocks(readFileSync(join(docs, page), 'utf8'))]
    .flatMap(({ commands: text }) => text.split('\n'))
    .filter((line) => line.startsWith('kubectl steward '))
    .map((line) => line.replace(/\s+[>#].*$/, '').slice('kubectl steward '.length));
}

const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter(
  (page) => page.endsWith('.md') && !page.startsWith('site/'),
);
const lines = pages.flatMap((page) => shown(page).map((line) => [page, line] as const));

/** Parses, and does nothing else. */
function withoutActions(command: Command): Command {
  for (const child of command.commands) withoutActions(child);
  return command.commands.length === 0 ? command.action(() => undefined) : command;
}

test.each(lines)('%s shows a command that exists: %s', async (_, line) => {
  const program = withoutActions(pluginProgram(systemWorld(new AbortController().signal)));
  await program.parseAsync([...switchValues(program, line.split(' '))], { from: 'user' });
  expect(program.args.length).toBeGreaterThan(0);
});

test('the how-to page shows every command', () => {
  const world = systemWorld(new AbortController().signal);
  const names = commands.map((make) => make(world).name());
  const page = readFileSync(join(docs, 'how-to/kubectl-steward.md'), 'utf8');
  expect(names.filter((name) => !new RegExp(`kubectl[ -]steward ${name}\\b`).test(page))).toEqual([]);
});
