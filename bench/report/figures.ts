/**
 * A page with other figures between its markers, the line before and the line after them. With `of`, those that name it: a page may have
 * several.
 * @throws Error when it has no such markers.
 */
export function withFigures(page: string, figures: string, of?: string): string {
  const what = of === undefined ? 'figures' : `figures of ${of}`;
  const marked = new RegExp(`(<!-- ${what}: begin[^>]*-->\\n)[^]*?(<!-- ${what}: end -->)`);
  if (!marked.test(page)) throw new Error(`The page has no markers <!-- ${what}: begin --> and <!-- ${what}: end -->.`);
  return page.replace(marked, (_all, begin: string, end: string) => `${begin}${figures}\n${end}`);
}
