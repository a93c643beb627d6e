/** Who tries a block of commands: the tests that run it, or why none does. */
export type Trial = { readonly tests: readonly string[] } | { readonly notRun: string };

/** A block of commands of a page. */
export interface ConsoleBlock {
  /** The heading that it stands under, without its number signs. */
  readonly heading: string;
  readonly commands: string;
  /** From the comment in the line before the block; absent when there is none. */
  readonly trial?: Trial;
}

/** `<!-- run by one.test.ts two.test.ts -->` or `<!-- not run: why -->`. */
export function readTrial(line: string): Trial | undefined {
  const [, tests, notRun] = /^\s*<!-- (?:run by (\S.*?)|not run: (\S.*?)) -->\s*$/.exec(line) ?? [];
  if (tests !== undefined) return { tests: tests.split(/\s+/) };
  return notRun === undefined ? undefined : { notRun };
}

/** The `console` blocks of a Markdown page, in their order. Blocks of other languages are no commands. */
export function consoleBlocks(markdown: string): readonly ConsoleBlock[] {
  const blocks: ConsoleBlock[] = [];
  let heading = '';
  let before = '';
  let open: Fence | undefined;
  for (const line of markdown.split('\n')) {
    const [, indent = '', fence] = /^(\s*)```(\w*)\s*$/.exec(line) ?? [];
    if (open === undefined) {
      if (fence === undefined) heading = /^#+\s+(.*)$/.exec(line)?.[1] ?? heading;
      else open = { indent, language: fence, lines: [], trial: readTrial(before) };
    } else if (fence === '') {
      if (open.language === 'console') blocks.push(blockOf(heading, open));
      open = undefined;
    } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    before = line;
  }
  return blocks;
}

interface Fence {
  readonly indent: string;
  readonly language: string;
  readonly lines: string[];
  readonly trial: Trial | undefined;
}

function blockOf(heading: string, { lines, trial }: Fence): ConsoleBlock {
  const commands = lines.join('\n');
  return trial === undefined ? { heading, commands } : { heading, commands, trial };
}
