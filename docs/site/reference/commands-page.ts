import path from 'node:path';

import { consoleBlocks } from '../../../e2e/framework/console-blocks.ts';
import type { ConsoleBlock, Trial } from '../../../e2e/framework/console-blocks.ts';

const page = 'docs/reference/generated/commands.md';

/** docs/reference/generated/commands.md: every block of commands of the pages, and who runs it. */
export function commandsPage(pages: ReadonlyMap<string, string>): readonly [file: string, text: string] {
  const blocks = [...pages].flatMap(([file, text]) => consoleBlocks(text).map((block) => ({ file, block })));
  const run = blocks.filter(({ block }) => block.trial !== undefined && 'tests' in block.trial).length;
  const text = [
    '<!-- Made by `npm run gen` from the comments before the blocks; do not edit. -->',
    '',
    '# Commands and tests',
    '',
    `Tests run ${run} of the ${blocks.length} blocks of commands in these pages, as they stand there. For the others, the table says why not.`,
    '',
    '| Page | Heading | Begins with | Run by |',
    '| --- | --- | --- | --- |',
    ...blocks.map(({ file, block }) => row(file, block)),
    '',
  ].join('\n');
  return [page, text];
}

function row(file: string, { heading, commands, trial }: ConsoleBlock): string {
  const [first = ''] = commands.split('\n');
  const words = first.length > 40 ? `${first.slice(0, 39)}…` : first;
  const cells = [`[${path.posix.basename(file, '.md')}](${toPage(file)})`, heading, code(words), trialText(trial)];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function toPage(file: string): string {
  return path.posix.relative(path.posix.dirname(page), file);
}

function trialText(trial: Trial | undefined): string {
  if (trial === undefined) return '**nobody knows**';
  if ('notRun' in trial) return `not run: ${trial.notRun}`;
  return trial.tests.map((test) => `[${path.posix.basename(test)}](${toPage(test)})`).join(', ');
}
