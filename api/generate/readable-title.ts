/** What stands for the values of a row in the title of a parameterized test, in the spellings of jest and of a template. */
const placeholder = /%[psdifjo]|\$\{[^}]*\}|\$[a-z]\w*(?:\.\w+)*/g;

/** The title of a test as a page shows it: `…` in place of the values of each row. */
export function readableTitle(title: string): string {
  return title.replaceAll(placeholder, '…');
}
