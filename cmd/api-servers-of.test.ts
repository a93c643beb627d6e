import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

import { apiServersOf } from './api-servers-of.ts';

test.each([
  [{}, []],
  [{ KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '6443' }, ['10.96.0.1:6443']],
  [{ KUBERNETES_SERVICE_HOST: '10.96.0.1' }, ['10.96.0.1:443']],
  [{ KUBERNETES_SERVICE_HOST: 'fd00::1' }, ['[fd00::1]:443']],
])('with the environment %j the API server is at %j', (environment, expected) => {
  expect(apiServersOf('', environment)).toEqual(expected);
});

test.each([
  ['https://api.example:6443', 'api.example:6443'],
  ['https://api.example/clusters/a', 'api.example:443'],
])('with a kubeconfig of %s the API server is at %s', async (server, expected) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  const file = join(folder, 'config');
  const named = (name: string, of: object) => [{ name: 'x', [name]: of }];
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: named('cluster', { server }),
    users: named('user', { token: 't' }),
    contexts: named('context', { cluster: 'x', user: 'x' }),
  };
  await writeFile(file, JSON.stringify(document));
  expect(apiServersOf(file, {})).toEqual([expected]);
  await rm(folder, { recursive: true });
});
