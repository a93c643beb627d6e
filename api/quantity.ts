const decimal: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
};
const binary: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const form = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)$/;

/**
 * Converts a resource quantity to a number, as precisely as a double can represent it; undefined for text that is not a
 * quantity (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/).
 */
export function numberOf(quantity: string | number): number | undefined {
  if (typeof quantity === 'number') return Number.isFinite(quantity) ? quantity : undefined;
  const [, digits, exponent, suffix = ''] = form.exec(quantity) ?? [];
  if (digits === undefined) return undefined;
  if (exponent !== undefined) return Number(digits + exponent);
  const factor = decimal[suffix] ?? binary[suffix];
  return factor === undefined ? undefined : Number(digits) * factor;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Bytes for a message, e.g. `1.2 GiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power] ?? ''}`;
}
