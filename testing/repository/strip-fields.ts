import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import type { FieldCoverage } from '../../api/generate/field-coverage.ts';
import { givenSeed, newSeed, runSeedVariable, seededNumber } from '../../e2e/framework/run-seed.ts';

/**
 * Runs the test that field-coverage.yaml names for a field as if the field were absent: it must fail. Only for tests that
 * make their objects by `tenantControlPlaneWith` or `externalControlPlane`, or change them by `strippedSpec`, and not for
 * those of a real API server.
 * Arguments are beginnings of fields; without any, all are tried. `--sample 8` tries so many, which the run's seed chooses:
 * npm run test:fields -- spec.controlPlane.gateway spec.addons.konnectivity
 */
const root = join(import.meta.dirname, '../..');
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

interface Entry {
  readonly kind: string;
  readonly file: string;
  readonly title: string;
  readonly field: string;
}

/** The test strips the field itself, or the field is one that we write. */
function isTried({ file, title, field }: Entry): boolean {
  const stripsItself = title === 'reaches the TenantControlPlane: %s';
  return !file.endsWith('.api.test.ts') && !stripsItself && !field.startsWith('spec.controlPlaneEndpoint.');
}

const { values, positionals: wanted } = parseArgs({ options: { sample: { type: 'string' } }, allowPositionals: true });
const all = ['TenantControlPlane', 'StewardControlPlane'].flatMap((kind) =>
  Object.entries(noted[kind] ?? {}).flatMap(([file, titles]) =>
    Object.entries(titles).flatMap(([title, fields]) => fields.map((field): Entry => ({ kind, file, title, field }))),
  ),
);
const seed = givenSeed() ?? newSeed();
const numberOf = ({ file, title, field }: Entry): number =>
  seededNumber(seed, `${file} ${title} ${field}`, 0, Number.MAX_SAFE_INTEGER);
const entries = all
  .filter(isTried)
  .filter(({ field }) => wanted.length === 0 || wanted.some((beginning) => field.startsWith(beginning)))
  .toSorted((a, b) => (values.sample === undefined ? 0 : numberOf(a) - numberOf(b)))
  .slice(0, values.sample === undefined ? undefined : Number(values.sample));
if (entries.length === 0) throw new Error(`No field is tried: ${process.argv.slice(2).join(' ')}`);
if (values.sample !== undefined) process.stdout.write(`the sample is chosen by ${runSeedVariable}=${seed}\n`);
let green = 0;
const passing = new Set<string>();
for (const { kind, file, title, field } of entries) {
  const test = `${file}: "${title}"`;
  if (!passing.has(test) && !passes(file, title, ''))
    throw new Error(`${test} fails or does not run with every field in place`);
  passing.add(test);
  const isGreen = passes(file, title, field);
  green += isGreen ? 1 : 0;
  process.stdout.write(`${isGreen ? 'GREEN' : 'red  '} ${kind} ${field}: ${title}\n`);
}
process.stdout.write(`${entries.length} fields, ${entries.length - green} tests red without theirs, ${green} green\n`);
process.exitCode = green === 0 ? 0 : 1;
