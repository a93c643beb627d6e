const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Milliseconds of a duration as Go writes it: `24h`, `1m30s`, `500ms`, `0`.
 * @throws RangeError naming the text and the form that is understood; days are no unit of Go's.
 */
export function goDuration(text: string): number {
  if (text === '0') return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (parts.length === 0 || read !== text.length) {
    throw new RangeError(`"${text}" is no duration; write a number with a unit, e.g. 24h, 1m30s or 500ms`);
  }
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (unitMs[unit ?? ''] ?? 0), 0);
}
