import type { Command } from 'commander';

/** The switches of all commands, without dashes. */
function switchesOf(command: Command): ReadonlySet<string> {
  const own = command.options
    .filter((option) => !option.required && !option.optional)
    .map(({ long }) => long?.slice(2) ?? '');
  return new Set([...own, ...command.commands.flatMap((child) => [...switchesOf(child)])]);
}

/**
 * `--wait=true` as `--wait`, and `--wait=false` as `--no-wait`, or left out if there is no such switch: kubectl writes the values of
 * switches like this, and the command library has only the other form. Words after `--` stay as they are.
 */
export function switchValues(program: Command, args: readonly string[]): readonly string[] {
  const switches = switchesOf(program);
  const end = args.indexOf('--');
  return args.flatMap((arg, index) => {
    const [, name = '', value] = /^--([a-z][a-z-]*)=(true|false)$/.exec(arg) ?? [];
    if ((end !== -1 && index > end) || !switches.has(name)) return [arg];
    if (value === 'true') return [`--${name}`];
    return switches.has(`no-${name}`) ? [`--no-${name}`] : [];
  });
}
