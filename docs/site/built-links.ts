import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Addresses in the built site below `base` that lead to no file of it, or to no element of it, one line each. */
export function builtLinks(folder: string, base: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
  const pages = new Map(files.map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]));
  const ids = new Map<string, ReadonlySet<string>>();
  const idsOf = (file: string): ReadonlySet<string> => {
    const known =
      ids.get(file) ?? new Set([...(pages.get(file) ?? '').matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? ''));
    ids.set(file, known);
    return known;
  };
  const problem = (from: string, address: string): string | undefined => {
    const here = new URL(from.replace(/index\.html$/, ''), `http://site${base}`);
    const { host, pathname, hash } = new URL(address, here);
    if (host !== 'site') return undefined;
    const inside = pathname.startsWith(base) ? decodeURI(pathname.slice(base.length)) : undefined;
    if (inside === undefined) return `${from}: ${address} is not below ${base}`;
    const file = inside === '' || inside.endsWith('/') ? `${inside}index.html` : inside;
    if (!existsSync(path.join(folder, file))) return `${from}: ${address} leads to no page`;
    const anchor = decodeURIComponent(hash.slice(1));
    return anchor === '' || !pages.has(file) || idsOf(file).has(anchor)
      ? undefined
      : `${from}: ${address} has no anchor`;
  };
  return [...pages].flatMap(([from, html]) => {
    const addresses = [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, address]) =>
      (address ?? '').replaceAll('&amp;', '&'),
    );
    return [...new Set(addresses)]
      .filter((address) => !/^(data|mailto):/.test(address))
      .flatMap((address) => problem(from, address) ?? []);
  });
}
