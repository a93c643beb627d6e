/** Comments, code, and addresses, in which nothing is lost. */
const kept = /<!--[\s\S]*?-->|^( *)```[\s\S]*?^ *``` *$|(`+)(?!`)[\s\S]*?(?<!`)\2(?!`)|<https?:[^>]*>/gm;
/** Elements that pages use on purpose. */
const known = new Set(['br']);

/**
 * Text outside of code that the site shows otherwise than it is written: `<name>`, which it takes for an element of HTML and does not show,
 * and `--flag`, which can become a dash.
 */
export function lostText(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(kept, '');
  const elements = [...prose.matchAll(/<\/?([a-z][\w-]*)[^<>]*>/gi)].filter(([, name = '']) => !known.has(name));
  const flags = prose.matchAll(/(?<![\w|-])--[a-z][\w-]*/g);
  return [...elements, ...flags].map(([found]) => found);
}
