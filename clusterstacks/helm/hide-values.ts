/** Shorter texts are common words of charts and not worth hiding. */
const shortest = 8;

/** All texts in a value of JSON. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) yield* textsIn(inner);
}

/**
 * Removes the given values from a message: charts and schemas of values quote what they reject, and the message ends up in a condition
 * that more people may read than the values.
 */
export function hideValues(message: string, values: unknown): string {
  const lines = [...textsIn(values)].flatMap((text) => text.split('\n')).map((line) => line.trim());
  const texts = [...new Set(lines)].filter((text) => text.length >= shortest);
  // Longest first: one may be a part of another.
  texts.sort((a, b) => b.length - a.length);
  return texts.reduce((hidden, text) => {
    const quoted = JSON.stringify(text).slice(1, -1);
    return hidden.replaceAll(text, '…').replaceAll(quoted, '…');
  }, message);
}
