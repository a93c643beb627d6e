/** Throws unless a promise of a parser holds. */
export function kept(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken promise: ${promise}`);
}
