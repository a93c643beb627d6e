import type { Flags } from './flags.ts';

const prefix = 'STEWARD_';

/** The environment variable that is read in place of a flag: that of `--log-level` is `STEWARD_LOG_LEVEL`. */
export const variableOf = (flag: string): string => `${prefix}${flag.replaceAll('-', '_').toUpperCase()}`;

/**
 * Environment variables as arguments. Behind those of the command line, they win, because the last one counts: the
 * manifests of an installation write the command line, and whoever runs it sets a variable to have it otherwise. An empty
 * variable is one that is not set; a space empties a text.
 */
export function argumentsFrom(
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return Object.keys(flags).flatMap((flag) => {
    const value = environment[variableOf(flag)] ?? '';
    return value === '' ? [] : [`--${flag}=${value.trim()}`];
  });
}

/** Variables that look like one of a flag but are none: a typing error would otherwise go unnoticed. */
export function strayVariables(
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const known = new Set(Object.keys(flags).map(variableOf));
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !known.has(name))
    .sort();
}
