import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FuzzTarget } from './fuzz-target.ts';

/** So many inputs of a target are kept, and none that is longer. */
const most = 150;
const longestBytes = 1024;

const fileOf = (name: string): string => join(import.meta.dirname, 'corpus', `${name}.txt`);

/** The inputs that earlier runs kept, because each of them runs code that no other one does. */
export function keptInputs({ name }: Pick<FuzzTarget, 'name'>): readonly Buffer[] {
  const file = fileOf(name);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => Buffer.from(line, 'base64'));
}

/** Keeps inputs, the shortest ones if there are too many; one line of base64 each. */
export function keepInputs({ name }: Pick<FuzzTarget, 'name'>, inputs: readonly Uint8Array[]): void {
  const short = inputs.filter(({ length }) => length > 0 && length <= longestBytes);
  const lines = short.map((input) => Buffer.from(input).toString('base64'));
  const sorted = [...new Set(lines)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  writeFileSync(
    fileOf(name),
    sorted
      .slice(0, most)
      .map((line) => `${line}\n`)
      .join(''),
  );
}
