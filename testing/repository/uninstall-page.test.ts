import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { allKinds } from '../../api/all-kinds.ts';

const root = path.join(import.meta.dirname, '../..');

/** The kinds whose controllers add a finalizer, by the name of the constant, and where. */
function kindsWithFinalizer(): ReadonlyMap<string, string> {
  const files = ['controllers', 'clusterstacks/controllers'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => path.basename(file) === 'controller.ts')
      .map((file) => path.join(folder, file)),
  );
  return new Map(
    files.flatMap((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      const [, kind] = /^ {4}kind: (\w+),$/m.exec(text) ?? [];
      return kind !== undefined && /^ {4}finalizers: \[\w/m.test(text) ? [[kind, file] as const] : [];
    }),
  );
}

describe('The page about the uninstallation', () => {
  const page = readFileSync(path.join(root, 'docs/how-to/upgrade-steward.md'), 'utf8');
  const [, section = ''] = /^## Uninstall$(.*?)^Then, with Helm:$/ms.exec(page) ?? [];
  const held = kindsWithFinalizer();

  test('is compared with every controller that adds a finalizer', () => {
    expect([...held.keys()].toSorted()).toEqual([
      'backupPolicy',
      'clusterStackRelease',
      'controlPlaneClaim',
      'controlPlanePool',
      'dataStore',
      'kubeconfigGenerator',
      'retainedControlPlane',
      'stewardControlPlane',
      'tenantBackup',
      'tenantControlPlane',
      'tenantRestore',
    ]);
  });

  test.each([...held])('says to delete the objects of %s before the manager (%s)', (name) => {
    const kind = allKinds.find((one) => one.kind.toLowerCase() === name.toLowerCase());
    expect(kind).toBeDefined();
    expect(section).toMatch(new RegExp(`\\b${kind?.kind.replace(/y$/, 'ie') ?? '?'}s\\b`));
  });

  test('has a command for those that nothing else deletes', () => {
    const [, commands = ''] = /```console\n(.*?)```/s.exec(section) ?? [];
    const owners = ['clusterStackRelease', 'stewardControlPlane'];
    const missing = allKinds.filter(({ kind, plural, shortNames }) => {
      const isHeld = [...held.keys()].some(
        (name) => name.toLowerCase() === kind.toLowerCase() && !owners.includes(name),
      );
      return isHeld && ![plural, ...shortNames].some((name) => new RegExp(`[ ,]${name}[ ,]`).test(commands));
    });
    expect(missing.map(({ kind }) => kind)).toEqual([]);
  });
});
