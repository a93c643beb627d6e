import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { quickStartDataStore } from './quick-start-data-store.ts';

const folder = join(import.meta.dirname, '..', 'config', 'datastores');
const place = { name: 'default', namespace: 'steward-system', clusterDomain: 'cluster.local' };

describe('The DataStore of the quick-start etcd', () => {
  test('equals that of config/datastores/etcd for one member', () => {
    const written: unknown = parse(readFileSync(join(folder, 'etcd', 'data-store.yaml'), 'utf8'));
    expect(quickStartDataStore({ ...place, members: 1 })).toEqual(written);
  });

  test('names every member', () => {
    const kustomization = readFileSync(join(folder, 'etcd-three-members', 'kustomization.yaml'), 'utf8');
    const { spec } = quickStartDataStore({ ...place, members: 3 }) as unknown as { spec: { endpoints: string[] } };
    expect(spec.endpoints).toHaveLength(3);
    for (const endpoint of spec.endpoints) expect(kustomization).toContain(endpoint);
  });
});
