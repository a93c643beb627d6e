/** A link or picture of a Markdown page, as it is written there. */
export interface MarkdownLink {
  readonly target: string;
  readonly text: string;
  readonly isPicture: boolean;
}

/** Code, in which nothing is a link, or a link. A link's text may contain code, and brackets in pairs. */
const codeOrLink =
  /^( *)```[\s\S]*?^ *``` *$|(`+)(?!`)[\s\S]*?(?<!`)\2(?!`)|(!?)\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/gm;

/** The page with each link outside of code replaced by what `replace` makes of it. */
export function replaceLinks(markdown: string, replace: (link: MarkdownLink) => string): string {
  return markdown.replaceAll(codeOrLink, (...found: readonly unknown[]) => {
    const [whole, , , mark, text, target] = found as readonly (string | undefined)[];
    if (target === undefined || text === undefined) return whole ?? '';
    return replace({ target, text, isPicture: mark === '!' });
  });
}

/** Every link and picture outside of code. */
export function linksOf(markdown: string): readonly MarkdownLink[] {
  const links: MarkdownLink[] = [];
  replaceLinks(markdown, (link) => {
    links.push(link);
    return '';
  });
  return links;
}
