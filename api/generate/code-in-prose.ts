/** Code as it is, or a flag or a word with a placeholder that is not marked as code. */
const codeOrWord =
  /(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)|(?<![\w-])--[a-z][a-z0-9-]*(?:=(?:[\w./-]*\w|<[a-z][^<>]*>))?(?: -[a-z] [a-z]+)?|(?:[\w./-]*<[a-z][^<>]*>)+(?:[\w./-]*\w)?/g;

/**
 * A text for terminals as Markdown: flags and words with placeholders become code. As prose, `--flag` could be shown with a dash, and
 * `<name>` would be taken for an element of HTML and not be shown at all.
 */
export function codeInProse(text: string): string {
  return text.replaceAll(codeOrWord, (found) => (found.startsWith('`') ? found : `\`${found}\``));
}
