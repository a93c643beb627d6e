import { cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { archiveOf } from './stack-release.ts';

/** Where the stacks are that we ship, each below its provider. */
export const shippedStacks = join(import.meta.dirname, '../../../templates/stacks');

/** A chart of a publisher, of which nothing but its name and version matters here. */
const standIn = (name: string, version: string): Buffer =>
  archiveOf([
    { path: `${name}/Chart.yaml`, content: `apiVersion: v2\nname: ${name}\nversion: ${version}\n` },
    {
      path: `${name}/templates/values.yaml`,
      content: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {values: {{ .Values | toJson | quote }}}\n`,
    },
  ]);

/**
 * Copies a stack that we ship, with stand-ins for the charts that `helm pull` would bring.
 * @param charts versions of each dependency.
 */
export async function copyShippedStack(
  { provider, charts }: { readonly provider: string; readonly charts: Readonly<Record<string, readonly string[]>> },
  into: string,
): Promise<string> {
  await cp(join(shippedStacks, provider, 'steward'), into, { recursive: true });
  for (const stage of await readdir(join(into, 'cluster-addon'))) {
    const place = join(into, 'cluster-addon', stage);
    const chart = parse(await readFile(join(place, 'Chart.yaml'), 'utf8')) as {
      readonly dependencies: readonly { readonly name: string }[];
    };
    await mkdir(join(place, 'charts'));
    for (const { name } of chart.dependencies) {
      for (const version of new Set(charts[name])) {
        await writeFile(join(place, 'charts', `${name}-${version}.tgz`), standIn(name, version));
      }
    }
  }
  return into;
}
