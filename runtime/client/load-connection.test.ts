import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeconfigError } from '../../api/kubeconfig.ts';
import { inClusterConnection, loadKubeconfigFile } from './load-connection.ts';

describe('A connection from files', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'connection-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('finds the files of a kubeconfig relative to it', async () => {
    const path = join(folder, 'kubeconfig');
    await writeFile(join(folder, 'authority.crt'), 'PEM');
    const config = {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://a', 'certificate-authority': 'authority.crt' } }],
      users: [{ name: 'a', user: { tokenFile: 'token' } }],
    };
    await writeFile(path, JSON.stringify(config));
    expect(loadKubeconfigFile(path)).toEqual({ server: 'https://a', ca: 'PEM', tokenFile: join(folder, 'token') });
    await rm(join(folder, 'authority.crt'));
    expect(() => loadKubeconfigFile(path)).toThrow('cluster "a": certificate-authority: cannot read authority.crt');
    expect(() => loadKubeconfigFile(`${path}-absent`)).toThrow(KubeconfigError);
  });

  test('uses the mounted CA and token in a pod', async () => {
    await writeFile(join(folder, 'ca.crt'), 'PEM');
    const tokenFile = join(folder, 'token');
    expect(inClusterConnection('10.96.0.1', '443', folder)).toEqual({
      server: 'https://10.96.0.1:443',
      ca: 'PEM',
      tokenFile,
    });
    expect(inClusterConnection('fd00::1', '443', folder).server).toBe('https://[fd00::1]:443');
    expect(() => inClusterConnection('10.96.0.1', '443', `${folder}/absent`)).toThrow(
      /does the pod mount a service-account token/,
    );
  });
});
