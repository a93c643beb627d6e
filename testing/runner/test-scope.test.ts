import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { clusterApiReleases } from '../../e2e/tools/cluster-api-releases.ts';
import { testScope } from './test-scope.ts';

const scenarios = join(import.meta.dirname, '../../e2e/scenarios');

test('the whole scope leaves nothing out, and is the default', () => {
  expect(testScope('whole').leftOut).toEqual([]);
  expect(testScope('whole').releases.map(({ minor }) => minor)).toContain('1.29');
  expect(testScope('whole').clusterApi.length).toBeGreaterThan(1);
});

test('the core has the two newest minors and the newest Cluster API, and leaves out scenarios that exist', () => {
  const { leftOut, releases, clusterApi, etcd } = testScope('core');
  expect(releases.map(({ minor }) => minor)).toEqual(['1.36', '1.35']);
  expect(clusterApi.map(({ minor }) => minor)).toEqual(['1.14']);
  expect(etcd.map(({ folder }) => folder)).toEqual(['etcd-3.6', 'etcd-3.7']);
  expect(leftOut.filter((name) => !existsSync(join(scenarios, `${name}.test.ts`)))).toEqual([]);
  expect(leftOut.length).toBeGreaterThan(0);
});

test('an unknown scope is refused with the known ones', () => {
  expect(() => testScope('quick')).toThrow('STEWARD_TESTS is "quick": say core, or whole');
});

test('each test of tier capi names a pinned minor of Cluster API, by which it is chosen', () => {
  const files = globSync('testing/contracts/**/*.capi.test.ts', { cwd: join(import.meta.dirname, '../..') });
  const minors = files.map((file) => /-(?<minor>[\d.]+)\.capi\.test\.ts$/.exec(file)?.groups?.minor);
  expect(minors.toSorted()).toEqual(clusterApiReleases.map(({ minor }) => minor).toSorted());
});
