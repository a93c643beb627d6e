/** A heading of a Markdown page, with the anchor that GitHub and the site give it. */
export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** Without what only Markdown sees: the marks of code and emphasis, the targets of links. */
function plain(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}

/** The headings of a page, in their order; lines of code blocks are none. */
export function headingsOf(markdown: string): readonly Heading[] {
  const seen = new Map<string, number>();
  const headings: Heading[] = [];
  let inCode = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*```/.test(line)) inCode = !inCode;
    const [, signs = '', written = ''] = /^(#{1,6}) +(.*?)(?: +#+)? *$/.exec(line) ?? [];
    if (inCode || signs === '') continue;
    const text = plain(written);
    const slug = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    const repeats = seen.get(slug) ?? 0;
    seen.set(slug, repeats + 1);
    headings.push({ depth: signs.length, text, anchor: repeats === 0 ? slug : `${slug}-${repeats}` });
  }
  return headings;
}
