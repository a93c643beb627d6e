/**
 * Text in one line, without what would tell a terminal something (ECMA-48): messages may come from a tenant, or repeat what somebody
 * wrote into a name.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}
