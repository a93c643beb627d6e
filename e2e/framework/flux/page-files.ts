import { readFile } from 'node:fs/promises';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../..');

/** The manifests of a page of `docs/how-to` that say in their first line which file of a repository they are, by that name. */
export async function pageFiles(name: string): Promise<Readonly<Record<string, string>>> {
  const markdown = await readFile(path.join(root, 'docs', 'how-to', `${name}.md`), 'utf8');
  const blocks = [...markdown.matchAll(/^```yaml\n# (\S+\.yaml)\n(.*?)^```$/gms)];
  return Object.fromEntries(blocks.map(([, file = '', text = '']) => [file, text]));
}
