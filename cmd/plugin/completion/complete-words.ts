import type { Argument, Command, Option } from 'commander';

/** What could come next on a command line: fixed words, or the names of objects that have to be looked up. */
export interface Candidates {
  readonly words: readonly (readonly [word: string, description: string])[];
  readonly names?: 'control planes' | 'datastores';
  /** Words before the one that is completed that matter for the look-up, such as `--context`. */
  readonly before: readonly string[];
}

const nothing: Candidates = { words: [], before: [] };
const shortOf = (option: Option): readonly string[] =>
  [option.long ?? '', option.short ?? ''].filter((name) => name !== '');

/** The candidates for the last of these words, which may be empty. Words are those after the name of the program. */
export function completeWords(program: Command, words: readonly string[]): Candidates {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const { command, positionals, pending } = walk(program, before);
  if (pending !== undefined) return starting(last, { ...ofOption(pending), before });
  const [, name = '', value] = /^(--[a-z-]+)=(.*)$/.exec(last) ?? [];
  if (value !== undefined) {
    const option = command.options.find((one) => one.long === name);
    const found = option === undefined ? nothing : ofOption(option);
    return starting(last, { ...found, words: found.words.map(([word, text]) => [`${name}=${word}`, text]), before });
  }
  if (last.startsWith('-')) {
    const shown = command.options.filter(({ hidden }) => !hidden);
    const flags = shown.map((option) => [option.long ?? '', option.description] as const);
    return starting(last, { words: [...flags, ['--help', 'Show what the command does and takes.']], before });
  }
  if (command.commands.length > 0) {
    if (positionals > 0) return nothing;
    const shown = command.createHelp().visibleCommands(command);
    return starting(last, { words: shown.map((child) => [child.name(), child.summary()]), before });
  }
  const all = command.registeredArguments;
  const argument = all[positionals] ?? (all.at(-1)?.variadic === true ? all.at(-1) : undefined);
  return argument === undefined ? nothing : starting(last, { ...ofArgument(command, argument), before });
}

/** Where the words lead: the command, how many arguments it has, and an option that lacks its value. */
function walk(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly positionals: number; readonly pending: Option | undefined } {
  let command = program;
  let positionals = 0;
  let pending: Option | undefined;
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    const option = command.options.find((one) => shortOf(one).includes(word));
    if (option !== undefined) pending = option.required || option.optional ? option : undefined;
    else if (!word.startsWith('-')) {
      const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (child === undefined) positionals += 1;
      else command = child;
    }
  }
  return { command, positionals, pending };
}

function ofOption(option: Option): Candidates {
  if (option.long === '--to' || option.long === '--datastore') return { ...nothing, names: 'datastores' };
  return { ...nothing, words: (option.argChoices ?? []).map((choice) => [choice, '']) };
}

function ofArgument(command: Command, argument: Argument): Candidates {
  if (argument.argChoices !== undefined)
    return { ...nothing, words: argument.argChoices.map((choice) => [choice, '']) };
  if (argument.name() !== 'name' || command.name() === 'create') return nothing;
  return { ...nothing, names: command.parent?.name() === 'datastore' ? 'datastores' : 'control planes' };
}

function starting(last: string, candidates: Candidates): Candidates {
  return { ...candidates, words: candidates.words.filter(([word]) => word !== '' && word.startsWith(last)) };
}
