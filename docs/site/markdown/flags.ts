/** Comments and code, which stay as they are, or the dashes of a flag. */
const codeOrDashes = /<!--[\s\S]*?-->|^( *)```[\s\S]*?^ *``` *$|(`+)(?!`)[\s\S]*?(?<!`)\2(?!`)|(?<![\w-])--(?=[a-z])/gm;

/** The page with the dashes of flags outside of code escaped: typographic punctuation would make one dash of them. */
export function keepFlags(markdown: string): string {
  return markdown.replaceAll(codeOrDashes, (found) => (found === '--' ? String.raw`\-\-` : found));
}
