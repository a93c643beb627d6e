import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Where a run keeps what it knows already, and its scratch: removing it only costs time. */
export async function workFolder(): Promise<string> {
  const folder = join(root, '.cache', 'mutation');
  await mkdir(folder, { recursive: true });
  return folder;
}
