import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ModulePin } from '../pins.ts';
import { preparedModule } from './prepared-module.ts';

let folder: string;
let modules: string;
let into: string;
const source: ModulePin = { folder: 'router', module: 'example.com/router', version: 'v1.0.0' };
const go = () => ({ program: join(folder, 'go'), environment: process.env });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prepared-'));
  modules = join(folder, 'modules');
  into = join(folder, 'into');
  const dependency = join(folder, 'cache', 'lego');
  await mkdir(join(dependency, 'dns'), { recursive: true });
  await writeFile(join(dependency, 'go.mod'), 'module example.com/lego\n');
  await writeFile(join(dependency, 'dns', 'list.go'), 'package dns // all\n', { mode: 0o444 });
  await chmod(join(dependency, 'dns'), 0o555);
  await mkdir(join(modules, 'router', 'lego'), { recursive: true });
  await writeFile(join(modules, 'router', 'go.mod'), 'module tools\n');
  await writeFile(join(modules, 'router', 'lego', 'list.go'), 'package dns // none\n');
  const answer = JSON.stringify({ Dir: dependency });
  const script = `#!/bin/sh\necho "$PWD: $*" >> ${folder}/calls\n[ "$2" = download ] && echo '${answer}'\nexit 0\n`;
  await writeFile(go().program, script, { mode: 0o755 });
});

afterEach(async () => {
  await chmod(join(folder, 'cache', 'lego', 'dns'), 0o755);
  await rm(folder, { recursive: true });
});

describe('The folder in which a module is built', () => {
  test('is its own, unless files of its dependencies are replaced', async () => {
    expect(await preparedModule(go(), modules, source, into)).toBe(join(modules, 'router'));
  });

  test('is a copy that contains a dependency with the replaced file, and leaves the module cache as it is', async () => {
    const replacedFiles = [{ module: 'example.com/lego', file: 'dns/list.go', by: 'lego/list.go' }];
    const prepared = await preparedModule(go(), modules, { ...source, replacedFiles }, into);
    expect(await readFile(join(prepared, 'replaced/0/dns/list.go'), 'utf8')).toBe('package dns // none\n');
    expect(await readFile(join(prepared, 'replaced/0/go.mod'), 'utf8')).toBe('module example.com/lego\n');
    expect(await readFile(join(folder, 'cache/lego/dns/list.go'), 'utf8')).toBe('package dns // all\n');
    expect((await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n')).toEqual([
      `${modules}/router: mod download -json example.com/lego`,
      `${prepared}: mod edit -replace=example.com/lego=./replaced/0`,
    ]);
  });
});
