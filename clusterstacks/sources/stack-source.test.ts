import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import type { ClusterStack } from '../api/cluster-stack.ts';
import type { ClusterStackSource } from '../api/cluster-stack-source.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { SourceAddress } from './asset-store.ts';
import { sourceOf } from './stack-source.ts';
import type { ManagerSource } from './stack-source.ts';

const own: SourceAddress = {
  type: 'oci',
  repository: 'registry.example.com/own',
  credentials: { username: 'manager', password: 'secret' },
};
const aStack = (source?: Partial<ClusterStackSource>): ClusterStack =>
  ({ metadata: { namespace: 'n', name: 'scs' }, spec: { source } }) as ClusterStack;
const secrets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'n/basic': { username: 'a', password: 'b' },
  'n/token': { token: 'c' },
  'n/ca': { 'ca.crt': 'pem' },
  'n/half': { username: 'a' },
  'other/basic': { username: 'x', password: 'y' },
};
const find = (source?: Partial<ClusterStackSource>, manager: ManagerSource = { address: own, folder: '/stacks' }) =>
  sourceOf(aStack(source), manager, ({ namespace = '', name }) => {
    const data = secrets[`${namespace}/${name}`];
    const encoded = Object.fromEntries(
      Object.entries(data ?? {}).map(([key, text]): [string, string] => [key, Buffer.from(text).toString('base64')]),
    );
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: storedMeta({ namespace, name }),
      data: encoded,
    };
    return Promise.resolve(data === undefined ? undefined : secret);
  });
const registry = { type: 'oci', repository: 'registry.example.com/theirs' } as const;

describe('the source of a stack', () => {
  test('is the manager’s source with its credentials if it names none', async () => {
    expect(await find()).toEqual({ address: own });
    expect(await find(undefined, {})).toMatchObject({ reason: 'NoSource' });
  });

  test('of its own never gets the manager’s credentials', async () => {
    expect(await find(registry)).toEqual({ address: registry });
    expect(await find({ type: 'github', repository: 'a/b' })).toEqual({
      address: { type: 'github', repository: 'a/b' },
    });
  });

  test('reads credentials and CA from Secrets of its namespace', async () => {
    const source = { ...registry, credentialsSecretRef: { name: 'basic' }, caSecretRef: { name: 'ca' } };
    const credentials = { username: 'a', password: 'b' };
    expect(await find(source)).toEqual({ address: { ...registry, credentials, certificateAuthority: 'pem' } });
    expect(await find({ ...registry, plainHTTP: true, credentialsSecretRef: { name: 'token' } })).toEqual({
      address: { ...registry, plainHttp: true, credentials: { token: 'c' } },
    });
    expect(await find({ type: 'github', repository: 'a/b', credentialsSecretRef: { name: 'token' } })).toEqual({
      address: { type: 'github', repository: 'a/b', token: 'c' },
    });
  });

  test.each([
    ['absent', 'Secret absent, which does not exist in this namespace'],
    ['half', 'Secret half of spec.source.credentialsSecretRef has no key password'],
  ])('with Secret %s says what is missing', async (name, message) => {
    expect(await find({ ...registry, credentialsSecretRef: { name } })).toEqual({
      reason: 'CredentialsMissing',
      message: expect.stringContaining(message),
    });
  });

  test('that is a directory stays below the manager’s folder', async () => {
    expect(await find({ type: 'directory' })).toEqual({ address: { type: 'directory', path: '/stacks' } });
    expect(await find({ type: 'directory', repository: 'a/b' })).toMatchObject({ address: { path: '/stacks/a/b' } });
    for (const repository of ['..', '../stacks2', 'a/../../etc', '/../etc']) {
      expect(await find({ type: 'directory', repository })).toMatchObject({
        reason: 'FailedCreateAssetsClient',
        message: expect.stringContaining(repository),
      });
    }
    expect(await find({ type: 'directory' }, {})).toMatchObject({ reason: 'FailedCreateAssetsClient' });
  });
});
