import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DebianPackage, ImageSystem } from './image-system.ts';

/**
 * The copyright of each Debian package, where Debian has it, and that of Node. Their licenses ask for it to be handed on.
 * @param node the program of Node; its package has the license in the folder above.
 * @param root where the packages were unpacked, if they are not installed.
 */
export function copyrightFiles(packages: readonly DebianPackage[], node: string, root = '/'): ImageSystem['files'] {
  const names = [...new Set(packages.map(({ name }) => name))].sort();
  const debian = names.map((name) => {
    const to = `/usr/share/doc/${name}/copyright`;
    return { from: [join(root, to), to].find((file) => existsSync(file)), to };
  });
  const all = [...debian, { from: join(dirname(node), '..', 'LICENSE'), to: '/nodejs/LICENSE' }];
  // Systems without documentation have no copyrights.
  return all.flatMap(({ from, to }) => (from !== undefined && existsSync(from) ? [{ from, to }] : []));
}
