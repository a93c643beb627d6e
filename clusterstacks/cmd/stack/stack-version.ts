const form = /^v(\d+)(?:-(\w+)[.-](\w+))?$/;

/** A version of a stack as files and classes spell it, with a dot (`v1`, `v0-sha.rwvgrna`), or undefined when it is none. */
export function dottedVersion(text: string): string | undefined {
  const [, major, word, suffix] = form.exec(text) ?? [];
  if (major === undefined) return undefined;
  return word === undefined || suffix === undefined ? `v${major}` : `v${major}-${word}.${suffix}`;
}

/** A version as names of releases and tags spell it, where dots are not wanted (`v0-sha-rwvgrna`). */
export const dashedVersion = (version: string): string => version.replace('.', '-');

/** The number of a version of channel stable (`v3`), or undefined for every other text. */
export function stableNumber(version: string): number | undefined {
  const [, digits] = /^v(\d{1,15})$/.exec(version) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The next version of the same kind: `v3` after `v2`. */
export function nextVersion(version: string): string {
  const number = stableNumber(version);
  if (number === undefined)
    throw new RangeError(`${version} has no successor: only versions such as v1 can be incremented`);
  return `v${number + 1}`;
}
