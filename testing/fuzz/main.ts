import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sideBySide } from '../side-by-side.ts';
import { fuzzingPage } from './fuzzing-page.ts';
import type { FuzzResult } from './fuzz-result.ts';
import { runTarget } from './run-target.ts';
import { targets } from './targets.ts';

/** Fuzzes the parsers: npm run fuzz -- kubeconfig watch --seconds 60. Without names, all of them. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '30' },
    workers: { type: 'string', default: '2' },
    record: { type: 'boolean', default: false },
  },
});

const root = join(import.meta.dirname, '..', '..');
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const unknown = positionals.filter((name) => !targets.some((target) => target.name === name));
if (unknown.length > 0)
  throw new Error(`no parser is called ${unknown.join(', ')}; there are ${targets.map(({ name }) => name).join(', ')}`);
const wanted = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const results: FuzzResult[] = [];
await sideBySide(wanted, Number(values.workers), async (target) => {
  const folder = join(root, '.cache', 'fuzz', target.name);
  const result = await runTarget(target, { seconds: Number(values.seconds), folder });
  results.push(result);
  const { name, inputs, branches, corpus, findings } = result;
  print(`${name}: ${inputs} inputs, ${branches} branches, corpus of ${corpus}, ${findings.length} findings`);
  for (const finding of findings) print(finding);
});
const sum = results.reduce((total, { inputs }) => total + inputs, 0);
const found = results.reduce((total, { findings }) => total + findings.length, 0);
print(`${results.length} parsers, ${sum} inputs, ${found} findings`);
if (values.record) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  await writeFile(join(root, 'docs', 'reference', 'fuzzing.md'), fuzzingPage(results, { commit, date }));
}
if (found > 0) process.exitCode = 1;
