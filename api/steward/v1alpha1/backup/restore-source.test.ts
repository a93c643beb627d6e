import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stewardControlPlane } from '../../../controlplane/steward-control-plane.ts';
import { objectSchema } from '../../../generate/crd.ts';
import { apiVersionOf } from '../../../meta.ts';
import type { Kind } from '../../../schema.ts';
import { applyDefaults } from '../../../structural/apply-defaults.ts';
import { validate } from '../../../structural/validate.ts';
import { tenantRestore } from './tenant-restore.ts';

const claim = (claimName: string): object => ({ persistentVolumeClaim: { claimName } });
const repository = (more: object): object => ({
  repository: {
    ...{ tenantControlPlaneName: 'shop', encryption: { keySecret: { name: 'backup-key' } }, storage: claim('backups') },
    ...more,
  },
});

/** A source with this name in one of its fields. */
const sources: readonly (readonly [string, (name: string) => object])[] = [
  ['backupName', (name) => ({ backupName: name })],
  ['policyName', (name) => ({ policyName: name })],
  ['repository.tenantControlPlaneName', (name) => repository({ tenantControlPlaneName: name })],
  ['repository.encryption.keySecret.name', (name) => repository({ encryption: { keySecret: { name } } })],
  ['repository.storage.persistentVolumeClaim.claimName', (name) => repository({ storage: claim(name) })],
  ['repository.storage.bucket.secretName', (name) => repository({ storage: { bucket: { secretName: name } } })],
];

/** The fields of a new object that the schema of its kind refuses. */
function refused(kind: Kind, spec: object): readonly string[] {
  const schema = objectSchema(kind);
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: 'new' }, spec };
  return validate(schema, applyDefaults(schema, object)).map(({ field }) => field);
}

const kinds: readonly (readonly [string, Kind, (source: object) => object])[] = [
  ['spec.restoreFrom', stewardControlPlane, (restoreFrom) => ({ version: 'v1.36.3', restoreFrom })],
  ['spec.source', tenantRestore, (source) => ({ tenantControlPlaneName: 'shop', type: 'InPlace', source })],
];

describe.each(kinds)('In %s', (path, kind, specWith) => {
  test('only the UID of a backup is taken for one', () => {
    // One that is too long is refused for that, too.
    const withUid = (backupUID: string): readonly string[] => [
      ...new Set(refused(kind, specWith(repository({ backupUID })))),
    ];
    fc.assert(
      fc.property(fc.uuid(), (uid) => {
        expect(withUid(uid)).toEqual([]);
      }),
    );
    const unsafe = fc.oneof(
      fc.constantFrom('..', '../shop', 'once', ''),
      fc.tuple(fc.uuid(), fc.constantFrom('/..', '\n', ' --at=x', '/')).map(([uid, more]) => `${uid}${more}`),
      fc.string().filter((text) => text.length !== 36),
    );
    fc.assert(
      fc.property(unsafe, (uid) => {
        expect(withUid(uid)).toEqual([`${path}.repository.backupUID`]);
      }),
    );
  });

  // A name becomes a part of a folder and of a command line, behind the namespace of its object.
  test.each(sources)('no %s leads to another namespace, folder or flag', (field, sourceWith) => {
    expect(refused(kind, specWith(sourceWith('shop-2')))).toEqual([]);
    const unsafe = fc.oneof(
      fc.constantFrom('..', '.', '../other/shop', 'other/shop', 'shop --at=x', '--move', 'shop\n', 'Shop', ''),
      fc.string().filter((text) => /[^-.a-z0-9]/.test(text)),
    );
    fc.assert(
      fc.property(unsafe, (name) => {
        expect(refused(kind, specWith(sourceWith(name)))).toEqual([`${path}.${field}`]);
      }),
    );
  });
});
