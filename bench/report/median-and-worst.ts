import { percentile } from './percentile.ts';

/** Milliseconds as seconds, such as `4.73 (5.03)`: the median and the worst case. Empty when there are none. */
export function medianAndWorst(ms: readonly number[], digits = 2): string {
  if (ms.length === 0) return '';
  const [median, worst] = [50, 100].map((p) => (percentile(ms, p) / 1000).toFixed(digits));
  return `${median ?? ''} (${worst ?? ''})`;
}
