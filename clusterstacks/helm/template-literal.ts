/**
 * A JSON value as an expression of Go's template language. Whole numbers become `int64`, as in the Kubernetes objects of Go
 * programs. Helm would read them from a values file as `float64`, which prints 1e+06 for a million and equals no number of a template.
 */
export function templateLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return numberLiteral(value);
  if (typeof value === 'string') return stringLiteral(value);
  if (Array.isArray(value)) return `(list${value.map((each) => ` ${templateLiteral(each)}`).join('')})`;
  if (typeof value === 'object') {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `(dict${fields.map(([name, field]) => ` ${stringLiteral(name)} ${templateLiteral(field)}`).join('')})`;
  }
  throw new TypeError(`a template's root may contain only JSON, not a ${typeof value}`);
}

function numberLiteral(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`a template's root may contain only JSON, not ${value}`);
  if (Number.isSafeInteger(value)) return `(int64 ${Object.is(value, -0) ? 0 : value})`;
  // A number that is too large for an integer must not look like one.
  return `(float64 ${Number.isInteger(value) ? value.toExponential() : value})`;
}

/** An interpreted string literal (https://go.dev/ref/spec#String_literals) in ASCII, on one line. */
function stringLiteral(text: string): string {
  const characters = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === '\\') return `\\${character}`;
    if (code >= 0x20 && code < 0x7f) return character;
    // Half of a surrogate pair is no character.
    if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return `"${characters.join('')}"`;
}
