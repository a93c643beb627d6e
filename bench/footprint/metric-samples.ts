/** One sample of Prometheus' text format. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The samples of one metric in Prometheus' text exposition format; empty when the text does not have it.
 * @param name exact, so that `x` does not find `x_total`.
 */
export function metricSamples(text: string, name: string): readonly MetricSample[] {
  return text.split('\n').flatMap((line) => {
    const [, found, labels = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/.exec(line) ?? [];
    if (found !== name) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', content = '']) => [
      key,
      content,
    ]);
    return [{ labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}
