const longest = 100;

/** A word that a tenant's API server chose, as conditions and Events may show it: short, and of letters that names have. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, longest).replace(/[^\w.+:/-]/g, '?') : '';
}
