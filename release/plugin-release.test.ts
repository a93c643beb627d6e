import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { writePluginRelease } from './plugin-release.ts';
import type { PluginRelease } from './plugin-release.ts';

const run = promisify(execFile);
let folder: string;
let release: PluginRelease;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugin-release-'));
  release = await writePluginRelease(join(folder, 'out'), 'v0.17.3');
  await run('tar', ['-xzf', release.archive, '-C', folder]);
  program = join(folder, 'kubectl-steward');
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const env = { PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` };

describe('The released plugin', () => {
  test('is one program that runs by itself, under any name', async () => {
    await symlink(program, join(folder, 'kubectl-steward-link'));
    for (const name of ['kubectl-steward', 'kubectl-steward-link']) {
      const { stdout } = await run(join(folder, name), ['version', '--client'], { env, cwd: folder });
      expect(stdout).toBe('plugin: v0.17.3\n');
    }
  });

  test('says with its exit code what went wrong', async () => {
    const failed = run(program, ['frob'], { env, cwd: folder });
    await expect(failed).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/unknown command/),
    });
  });

  test('has the program with which kubectl completes it', async () => {
    const { stdout } = await run(join(folder, 'kubectl_complete-steward'), ['upg'], {
      env: { PATH: `${folder}:${env.PATH}` },
    });
    expect(stdout).toBe('upgrade\tUpgrade a control plane to another Kubernetes version.\n:4\n');
  });

  test('has a krew manifest with its address and checksum', async () => {
    const manifest = parse(await readFile(release.manifest, 'utf8')) as {
      readonly spec: { readonly version: string; readonly platforms: readonly Record<string, unknown>[] };
    };
    const sha256 = createHash('sha256')
      .update(await readFile(release.archive))
      .digest('hex');
    expect(manifest.spec.version).toBe('v0.17.3');
    expect(manifest.spec.platforms).toEqual([
      expect.objectContaining({
        sha256,
        uri: 'https://github.com/butlerdotdev/steward/releases/download/v0.17.3/kubectl-steward_v0.17.3.tar.gz',
        bin: 'kubectl-steward',
      }),
    ]);
  });
});
