/** Replaces the text between the markers of a page with figures. */
const marked = /(<!-- figures: begin[^>]*-->\n)[^]*?(<!-- figures: end -->)/;

/**
 * A page with other figures between its markers.
 * @throws Error when it has no markers.
 */
export function withFigures(page: string, figures: string): string {
  if (!marked.test(page)) throw new Error('The page has no markers <!-- figures: begin --> and <!-- figures: end -->.');
  return page.replace(marked, (_all, begin: string, end: string) => `${begin}${figures}\n${end}`);
}
