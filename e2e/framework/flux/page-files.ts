import { readFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../..');

/** The files that a page of `docs/how-to` shows, by the name that their first line says: manifests, and what else is no command. */
export async function pageFiles(name: string): Promise<Readonly<Record<string, string>>> {
  const markdown = await readFile(path.join(root, 'docs', 'how-to', `${name}.md`), 'utf8');
  const blocks = [...markdown.matchAll(/^( *)```(?:yaml|bash|text)\n *# (\S+\.\w+)\n(.*?)^ *```$/gms)];
  // A block of a list is indented as the list is.
  return Object.fromEntries(
    blocks.map(([, indent = '', file = '', text = '']) => [file, text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')]),
  );
}
