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
 * Parses a Go duration, such as `24h`, `1m30s`, `500ms` or `0`, into milliseconds.
 * @throws RangeError that names the text and the accepted format. Go has no unit for days.
 */
export function goDuration(text: string): number {
  if (text === '0') return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy)];
  const read = parts.reduce((length, [part]) => length + part.length, 0);
  if (parts.length === 0 || read !== text.length) {
    throw new RangeError(`"${text}" is not a duration: use a number with a unit, e.g. 24h, 1m30s or 500ms`);
  }
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * (unitMs[unit ?? ''] ?? 0), 0);
}
