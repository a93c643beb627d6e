import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isolationPage } from './isolation-page.ts';
import { serverResults } from './server-results.ts';
import { sumAttempts } from './sum-attempts.ts';

/** The tests of drivers that attack; the others of these files are left out. */
const attacking = 'gives no tenant access|detects the same attacks|isolates tenants|is verified|is found to let';

const drivers = ['etcd', 'postgres', 'mysql', 'nats'].map((name) => `stores/${name}/driver.contract.test.ts`);
const further = [
  'stores/etcd/isolation/leaky-release.contract.test.ts',
  'stores/postgres/isolation/openings.contract.test.ts',
  'stores/mysql/isolation/openings.contract.test.ts',
];

/**
 * Attacks real servers of all drivers, as the product does and with what only tests may try, and prints attempts and breaches. With
 * `--short` only what the product does. With `--record` the results of a whole run are kept, and written as a page.
 */
const [isShort, isRecorded] = ['--short', '--record'].map((option) => process.argv.includes(option));
if (isShort === true && isRecorded === true)
  throw new Error('--record keeps the results of a whole run: leave out --short');
const root = join(import.meta.dirname, '../..');
const files = isShort === true ? drivers : [...drivers, ...further];
const names = isShort === true ? 'is verified' : attacking;
const options = ['--selectProjects', 'contract', '--runInBand', '-t', names, '--runTestsByPath', ...files];
const program = join(root, 'node_modules/jest/bin/jest.js');
const jest = spawn(process.execPath, ['--experimental-vm-modules', '--no-warnings', program, ...options], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'pipe'],
});
const closed = once(jest, 'close');
const lines: string[] = [];
for await (const line of createInterface(jest.stderr)) {
  lines.push(line);
  process.stderr.write(`${line}\n`);
}
const [code] = (await closed) as [number | null];
const { attempts, breaches, faults, missed } = sumAttempts(lines);
process.stdout.write(
  `isolation: ${attempts} attempts, breaches (${breaches}); ${faults} planted mistakes, ${missed} missed\n`,
);
if (isRecorded === true && attempts > 0) {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const results = { commit, date: new Date().toISOString().slice(0, 10), servers: serverResults(lines) };
  await writeFile(join(root, 'testing/isolation/results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
  await writeFile(join(root, 'docs/reference/isolation.md'), isolationPage(results));
}
// No attempts were no proof.
process.exitCode = code === 0 && attempts > 0 && breaches === 0 && missed === 0 ? 0 : 1;
