import { Lexer } from 'yaml';

/** Each repair parses the text again; a text that needs more repairs is not a slip. */
const mostRepairs = 100;

/** Where the quoted text ends that begins at `start`, its closing quote included; undefined when it never does. */
function endOfQuoted(text: string, start: number): number | undefined {
  const form = text[start] === '"' ? /"(?:[^"\\]|\\[^])*"/y : /'(?:[^']|'')*'/y;
  form.lastIndex = start;
  return form.test(text) ? form.lastIndex : undefined;
}

/** The first quoted text that the parser cuts off at the end of a line, because the next line is not indented far enough. */
function brokenOff(text: string): { readonly start: number; readonly end: number } | undefined {
  let at = 0;
  for (const lexeme of new Lexer().lex(text)) {
    // Lexemes of one control character are marks of the lexer's own (https://eemeli.org/yaml/#lexer), and no text.
    if (/^[\x02\x18\x1f\ufeff]$/.test(lexeme)) continue;
    const quote = lexeme[0];
    if ((quote === '"' || quote === "'") && (lexeme.length === 1 || !lexeme.endsWith(quote))) {
      const end = endOfQuoted(text, at);
      if (end !== undefined && text.slice(at, end).includes('\n')) return { start: at, end };
    }
    at += lexeme.length;
  }
  return undefined;
}

/**
 * YAML requires the lines of a quoted text to be indented; Go's parser does not, and existing charts rely on that. Leading spaces of
 * such lines mean nothing (YAML 1.2, 7.3.1), so indenting them changes no value.
 */
export function indentQuoted(text: string): string {
  let repaired = text;
  for (let repair = 0; repair < mostRepairs; repair += 1) {
    const found = brokenOff(repaired);
    if (found === undefined) return repaired;
    const indent = ' '.repeat(found.start - repaired.lastIndexOf('\n', found.start));
    const quoted = repaired.slice(found.start, found.end).replaceAll(/\n(?=[^\n])/g, `\n${indent}`);
    repaired = repaired.slice(0, found.start) + quoted + repaired.slice(found.end);
  }
  return repaired;
}
