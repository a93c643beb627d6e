/** Rows under a header as aligned text, in the syntax of Markdown's tables, numbers to the right. */
export function textTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(3, ...all.map((row) => (row[column] ?? '').length)));
  const isNumeric = (column: number): boolean =>
    column > 0 && rows.every((row) => /^[-\d.,×% ]*$/.test(row[column] ?? ''));
  const right = header.map((_, column) => isNumeric(column));
  const line = (row: readonly string[]): string => {
    const cells = widths.map((width, column) => {
      const text = row[column] ?? '';
      return right[column] === true ? text.padStart(width) : text.padEnd(width);
    });
    return `| ${cells.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    right[column] === true ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  return [line(header), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}
