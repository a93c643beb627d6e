import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { apiServerUnderTest } from './api-server-under-test.ts';
import { startApiServer } from './api-server.ts';

const run = promisify(execFile);

describe('The API server for tests', () => {
  test('answers the pinned kubectl as an administrator and refuses unknown clients', async () => {
    const { kubectl } = await resolveTools(['kubectl']);
    const { kubeconfigPath } = await apiServerUnderTest();
    const { stdout } = await run(kubectl, ['--kubeconfig', kubeconfigPath, 'get', 'namespaces', '-o', 'name']);
    expect(stdout.split('\n')).toContain('namespace/kube-system');
    const asStranger = run(kubectl, ['--kubeconfig', kubeconfigPath, '--as', 'nobody', 'get', 'secrets', '-A']);
    await expect(asStranger).rejects.toThrow(/User "nobody" cannot list resource "secrets"/);
  }, 30_000);

  test('keeps its objects over a kill and a restart', async () => {
    const { kubectl } = await resolveTools(['kubectl']);
    await using server = await startApiServer({ rbac: false });
    const call = async (...words: string[]): Promise<string> =>
      (await run(kubectl, ['--kubeconfig', server.kubeconfigPath, ...words])).stdout;
    await call('create', 'namespace', 'kept');
    await server.kill();
    await expect(call('--request-timeout=2s', 'get', 'namespace', 'kept')).rejects.toThrow(/refused/);
    await server.restart();
    expect(await call('get', 'namespace', 'kept', '-o', 'name')).toBe('namespace/kept\n');
  }, 60_000);
});
