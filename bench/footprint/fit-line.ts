/** A measured point. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A straight line y = intercept + slope · x. */
export interface Line {
  readonly slope: number;
  readonly intercept: number;
}

/**
 * The line that fits the points best by least squares: its slope is what one more x costs.
 * @throws RangeError when the points have fewer than two different x.
 */
export function fitLine(points: readonly Point[]): Line {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map((point) => point.x));
  const y = mean(points.map((point) => point.y));
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  if (!(spread > 0)) throw new RangeError('a slope needs points at two different x');
  const slope = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
  return { slope, intercept: y - slope * x };
}
