import type { Argument, Command, Option } from 'commander';
import { codeInProse } from '../../api/generate/code-in-prose.ts';
import { exitCodeMeanings } from './frame/exit-codes.ts';
import { pluginName } from './program.ts';

const cell = (text: string): string => codeInProse(text).replaceAll('|', '\\|').replaceAll('\n', ' ');

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The words with which a command is called. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function argumentRow(argument: Argument): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return `| \`${argument.required ? `<${name}>` : `[${name}]`}\` | | ${cell(argument.description)} |`;
}

function optionRow(option: Option): string {
  const { defaultValue, defaultValueDescription: described } = option as {
    defaultValue: unknown;
    defaultValueDescription?: string;
  };
  const choices =
    option.argChoices === undefined ? '' : ` One of ${option.argChoices.map((one) => `\`${one}\``).join(', ')}.`;
  const byDefault =
    defaultValue === undefined || defaultValue === false ? '' : `\`${described ?? textOf(defaultValue)}\``;
  return `| \`${option.flags}\` | ${byDefault} | ${cell(option.description)}${choices} |`;
}

const head = ['| Argument or flag | Default | Meaning |', '| --- | --- | --- |'];

/** The flags that every command with a connection has, which the page shows once. */
const isShared = (option: Option): boolean => ['--namespace', '--context', '--kubeconfig'].includes(option.long ?? '');

function section(command: Command): readonly string[] {
  if (command.commands.length > 0) return command.commands.flatMap(section);
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...command.options.filter((option) => !isShared(option)).map(optionRow),
  ];
  const usage = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [
    `## ${nameOf(command)}`,
    `\`${[nameOf(command), ...usage, '[flags]'].join(' ')}\``,
    codeInProse(command.description()),
    ...(rows.length === 0 ? [] : [[...head, ...rows].join('\n')]),
  ];
}

/** The reference page of the plugin's commands, in Markdown. */
export function pluginPage(program: Command): string {
  const sorted = [...program.commands].sort((a, b) => (a.name() < b.name() ? -1 : 1));
  const shared = sorted.flatMap(({ options }) => options).filter(isShared);
  const once = shared.filter((option, index) => shared.findIndex(({ long }) => long === option.long) === index);
  const codes = exitCodeMeanings.map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`);
  return `${[
    '<!-- Made by `npm run gen`; do not edit. -->',
    `# ${pluginName}`,
    `[How to install and use it](../../how-to/kubectl-steward.md). The same commands are in the binary, as \`steward kubectl\`.`,
    'Results go to the standard output; progress, warnings and errors go to the standard error. There are no colors unless the output is a terminal, and none if `NO_COLOR` is set.',
    '## Flags of all commands that use a cluster',
    [...head, ...once.map(optionRow)].join('\n'),
    '## Exit codes',
    ['| Code | Meaning |', '| --- | --- |', ...codes].join('\n'),
    ...sorted.flatMap(section),
  ].join('\n\n')}\n`;
}
