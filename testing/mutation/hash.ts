import { createHash } from 'node:crypto';

export const hash = (...texts: readonly string[]): string => {
  const sum = createHash('sha256');
  for (const text of texts) sum.update(`${text.length}\0`).update(text);
  return sum.digest('hex').slice(0, 20);
};
