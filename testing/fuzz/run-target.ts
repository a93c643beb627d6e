import { spawn } from 'node:child_process';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildTarget } from './build-target.ts';
import { newerLibc } from './newer-libc.ts';
import { keepInputs, keptInputs } from './corpus.ts';
import { readFigures } from './fuzz-result.ts';
import type { FuzzResult } from './fuzz-result.ts';
import type { FuzzTarget } from './fuzz-target.ts';

/** How long, and where the fuzzer works; `folder` is replaced. */
export interface RunOptions {
  readonly seconds: number;
  readonly folder: string;
}

/** The fuzzer's codes for a run without findings and for one that ended with a finding. */
const ends = { well: 0, finding: 77 };

/** Inputs longer than this only cost time. */
const longestBytes = 4096;

/** One input that takes longer than this many milliseconds is a finding: the manager does nothing else meanwhile. */
const slowMs = 2000;

const fuzzer = createRequire(import.meta.url).resolve('@jazzer.js/core/dist/cli.js');

/**
 * Lets the fuzzer try inputs until a finding or until the time is over, and adds those that reached something new to the corpus. Throws when
 * the fuzzer itself fails.
 */
export async function runTarget(target: FuzzTarget, { seconds, folder }: RunOptions): Promise<FuzzResult> {
  const [corpus, found] = [join(folder, 'corpus'), join(folder, 'found')];
  await rm(folder, { recursive: true, force: true });
  await Promise.all([mkdir(corpus, { recursive: true }), mkdir(found, { recursive: true })]);
  const inputs = [...(await target.seeds()).map((seed) => Buffer.from(seed)), ...keptInputs(target)];
  await Promise.all(inputs.map((input, at) => writeFile(join(corpus, String(at)), input)));
  const program = await buildTarget(target, folder);
  const begun = performance.now();
  const { code, output } = await run([
    ...[program, corpus, '--includes', program, '--timeout', String(slowMs), '--'],
    ...[`-max_total_time=${seconds}`, `-max_len=${longestBytes}`, '-rss_limit_mb=4096', `-artifact_prefix=${found}/`],
  ]);
  if (code !== ends.well && code !== ends.finding && (await readdir(found)).length === 0)
    throw new Error(`the fuzzer ended with ${code}:\n${output.slice(-4000)}`);
  keepInputs(target, await filesIn(corpus));
  const why =
    /^==\d+== ?(?:Uncaught Exception|ERROR)[^\n]*(?:\n +at [^\n]+){0,6}/m.exec(output)?.[0] ?? output.slice(-500);
  const findings = (await filesIn(found)).map((input) => `${why}\n${input.toString('base64')}`);
  const { name, from } = target;
  return { name, from, seconds: (performance.now() - begun) / 1000, ...readFigures(output), findings };
}

async function filesIn(folder: string): Promise<readonly Buffer[]> {
  return Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file))));
}

async function run(words: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const [loader, ...libraries] = await newerLibc();
  const command = [fuzzer, ...words];
  const [program, all] =
    loader === undefined ? [process.execPath, command] : [loader, [...libraries, process.execPath, ...command]];
  const child = spawn(program, all, { stdio: ['ignore', 'pipe', 'pipe'] });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => void parts.push(part));
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  const code = await promise;
  process.off('exit', end);
  return { code, output: Buffer.concat(parts).toString() };
}
