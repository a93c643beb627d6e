/** No object of Kubernetes comes near it. */
const deepest = 500;

/**
 * Parses JSON of someone who is not trusted. Deep nesting is refused: three bytes of it cost a hundred in memory, and what walks
 * the document later would run out of stack.
 * @throws SyntaxError for what is no JSON or too deep.
 */
export function parseJson(text: string): unknown {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      // A backslash takes the next character with it.
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) throw new SyntaxError(`it is nested deeper than ${deepest} levels`);
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return JSON.parse(text);
}
