const longest = 100;

/** A word from a tenant's API server in a form that conditions and Events may show: short, and only with characters of names. */
export function plainText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, longest).replace(/[^\w.+:/-]/g, '?') : '';
}
