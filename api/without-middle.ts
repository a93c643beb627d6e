/**
 * A text of at most `most` characters, cut in its middle: an error begins with what was tried, and ends with why that was not
 * possible.
 */
export function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const mark = ' … ';
  const end = Math.ceil((most - mark.length) / 2);
  return `${text.slice(0, most - mark.length - end)}${mark}${text.slice(-end)}`;
}
