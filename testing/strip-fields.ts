import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { FieldCoverage } from '../api/generate/field-coverage.ts';

/**
 * Runs the test that field-coverage.yaml names for a field as if nobody had given the field: it must fail. Only for tests that
 * make their TenantControlPlane by `tenantControlPlaneWith`, and not for those of a real API server. Arguments are beginnings of fields; without any, all are tried:
 *
 *     npm run test:fields -- spec.controlPlane.gateway spec.addons.konnectivity
 */
const root = join(import.meta.dirname, '..');
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const noted = parse(readFileSync(join(import.meta.dirname, 'field-coverage.yaml'), 'utf8')) as FieldCoverage;

/** The title as jest prints it: a row of a table has its values in the place of `%s` and the like. */
function patternOf(title: string): string {
  const escaped = title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return `${escaped.replaceAll(/%[sjdp]/g, '.*')}$`;
}

function passes(file: string, title: string, field: string): boolean {
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--selectProjects', 'unit', '--maxWorkers=1'];
  const env = { ...process.env, STRIPPED_FIELD: field };
  const { status } = spawnSync(process.execPath, [...args, file, '-t', patternOf(title)], {
    cwd: root,
    env,
    stdio: 'ignore',
  });
  return status === 0;
}

const wanted = process.argv.slice(2);
const entries = Object.entries(noted.TenantControlPlane ?? {})
  .flatMap(([file, titles]) =>
    Object.entries(titles).flatMap(([title, fields]) => fields.map((field) => ({ file, title, field }))),
  )
  .filter(({ file }) => !file.endsWith('.api.test.ts'))
  .filter(({ field }) => wanted.length === 0 || wanted.some((beginning) => field.startsWith(beginning)));
let green = 0;
for (const { file, title, field } of entries) {
  if (!passes(file, title, '')) throw new Error(`${file}: "${title}" fails or does not run with every field in place`);
  const isGreen = passes(file, title, field);
  green += isGreen ? 1 : 0;
  process.stdout.write(`${isGreen ? 'GREEN' : 'red  '} ${field}: ${title}\n`);
}
process.stdout.write(`${entries.length} fields, ${entries.length - green} tests red without theirs, ${green} green\n`);
process.exitCode = green === 0 ? 0 : 1;
