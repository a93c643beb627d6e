/**
 * Text in one line, without control sequences for a terminal (ECMA-48): messages may come from a tenant, or contain a name that a user
 * chose.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}
