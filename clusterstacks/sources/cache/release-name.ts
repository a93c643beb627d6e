/** The parts of a release name. */
export interface ReleaseName {
  /** `<provider>-<stack>-<major>-<minor>`. */
  readonly stack: string;
  /** With a dot: `v1`, `v0-sha.rwvgrna`. */
  readonly version: string;
  /** As tags of releases spell it: with a dash, which is usual, and with a dot, as newer scripts write it. */
  readonly spellings: readonly string[];
}

/**
 * Parses a release name from its end, which is unambiguous; the names of providers and stacks may contain dashes.
 * @throws RangeError for anything that is not a release name.
 */
export function parseReleaseName(name: string): ReleaseName {
  const [, stack, major, first, second] =
    /^(?=.{1,253}$)([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?-\d+-\d+)-(v\d+)(?:-(\w+)[.-](\w+))?$/.exec(name) ?? [];
  if (stack === undefined || major === undefined) {
    throw new RangeError(
      `"${name}" is not a release name: use a name such as docker-scs-1-30-v1 or docker-scs-1-30-v0-sha-rwvgrna`,
    );
  }
  if (first === undefined || second === undefined) return { stack, version: major, spellings: [`${stack}-${major}`] };
  const dotted = `${major}-${first}.${second}`;
  return { stack, version: dotted, spellings: [`${stack}-${major}-${first}-${second}`, `${stack}-${dotted}`] };
}
