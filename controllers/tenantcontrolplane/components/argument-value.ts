import { flagName } from './arguments.ts';

/** What a program takes for a flag that stands among `args` as `--name=value`: the last one; empty for a bare flag. */
export function argumentValue(args: readonly string[] | undefined, name: string): string | undefined {
  const argument = args?.findLast((one) => flagName(one) === name);
  if (argument === undefined) return undefined;
  const equals = argument.indexOf('=');
  return equals < 0 ? '' : argument.slice(equals + 1);
}
