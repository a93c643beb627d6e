import { flagName } from './arguments.ts';

/** The value that a program uses for a flag among `args`, written as `--name=value`: the last one; empty for a bare flag. */
export function argumentValue(args: readonly string[] | undefined, name: string): string | undefined {
  const argument = args?.findLast((one) => flagName(one) === name);
  if (argument === undefined) return undefined;
  const equals = argument.indexOf('=');
  return equals < 0 ? '' : argument.slice(equals + 1);
}
