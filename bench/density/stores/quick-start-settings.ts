/** Settings `name = value` of a configuration file, without its comments, sections and those that are left out. */
export function settingsOf(text: string, leftOut: readonly string[]): Readonly<Record<string, string>> {
  const lines = text.split('\n').map((line) => /^(\w+)(?:\s*=\s*'?(.*?)'?\s*)?$/.exec(line));
  return Object.fromEntries(
    lines.flatMap((found) => {
      const [, name = '', value = 'ON'] = found ?? [];
      return name === '' || leftOut.some((start) => name.startsWith(start)) ? [] : [[name, value]];
    }),
  );
}

/**
 * Flags `--name=value` of the container in a manifest, by their names, without the dashes.
 * @throws Error when the manifest has not all of them.
 */
export function flagsOf(manifest: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const [, value] = new RegExp(`^\\s*- --${name}=(\\S+)$`, 'm').exec(manifest) ?? [];
      if (value === undefined) throw new Error(`The quick start has no flag --${name}.`);
      return [name, value];
    }),
  );
}
