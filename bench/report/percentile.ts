/**
 * The p-th percentile (0 to 100) of some values, interpolated between neighbors, as spreadsheets and NumPy do by default.
 * @throws RangeError when there are no values or p is no percentage.
 */
export function percentile(values: readonly number[], p: number): number {
  if (p < 0 || p > 100 || Number.isNaN(p)) throw new RangeError(`percentile ${p}: a number from 0 to 100 is needed`);
  const ordered = values.toSorted((a, b) => a - b);
  const place = ((ordered.length - 1) * p) / 100;
  const below = ordered[Math.floor(place)];
  const above = ordered[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new RangeError('a percentile needs at least one value');
  return below + (above - below) * (place - Math.floor(place));
}
