/** A line of Prometheus' text format with a value. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)/;
const label = /\s*([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"\s*(?:,|$)/gy;
const escaped: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

/** Reads a line; undefined for comments, and for what is no sample with a finite, non-negative number. */
export function readSample(text: string): Sample | undefined {
  if (text.startsWith('#')) return undefined;
  const [, name, inside = '', number] = line.exec(text) ?? [];
  if (name === undefined || number === undefined) return undefined;
  const value = Number(number);
  if (!Number.isFinite(value) || value < 0) return undefined;
  const labels = new Map<string, string>();
  for (const [, key = '', quoted = ''] of inside.matchAll(label))
    labels.set(
      key,
      quoted.replace(/\\[n"\\]/g, (sequence) => escaped[sequence] ?? sequence),
    );
  return { name, labels, value };
}
