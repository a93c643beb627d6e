import { describe, expect, test } from '@jest/globals';
import type { Manifest } from '../../../api/meta.ts';
import type { ClusterAddonConfig } from '../../sources/cluster-addon-config.ts';
import { ValuesError, valuesFrom } from './stages/addon-values.ts';
import { UnstableNamesError, compareRenderings } from '../../sources/generated-parts.ts';
import { installOrder, isDefinition } from './workload/install-order.ts';
import { itemOf, superfluousItems, withItems, withoutItems } from './workload/inventory.ts';

const manifest = (kind: string, name: string, fields: object = {}, apiVersion = 'v1'): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'kube-system' },
  ...fields,
});

describe('The values of a chart', () => {
  test('are the text under "values" if there is one', () => {
    expect(valuesFrom('values: |\n  a: 1\n')).toBe('a: 1\n');
  });

  test('are the whole text if "values" is not a text', () => {
    expect(valuesFrom('a: 1\nvalues:\n  b: 2\n')).toBe('a: 1\nvalues:\n  b: 2\n');
  });

  test('may be empty', () => {
    expect(valuesFrom('\n')).toBe('');
    expect(valuesFrom('# nothing\n')).toBe('');
  });

  test.each([
    ['text that is not YAML', 'a: [secret-word'],
    ['a list', '- secret-word'],
    ['a word', 'secret-word'],
  ])('are not %s, and the refusal does not quote them', (_, text) => {
    const refusal = (): string => valuesFrom(text);
    expect(refusal).toThrow(ValuesError);
    expect(refusal).not.toThrow(/secret-word/);
  });
});

describe('The order of installation', () => {
  test('is Helm’s, with definitions first and unknown kinds last', () => {
    const kinds = ['Gizmo', 'Deployment', 'ConfigMap', 'CustomResourceDefinition', 'Namespace', 'Secret'];
    const groups = installOrder(kinds.map((kind) => manifest(kind, 'x')));
    const expected = ['CustomResourceDefinition', 'Namespace', 'Secret', 'ConfigMap', 'Deployment', 'Gizmo'];
    expect(groups.map(([first]) => first?.kind)).toEqual(expected);
  });

  test('keeps objects of one kind in the order of the chart', () => {
    const [group] = installOrder([manifest('ConfigMap', 'b'), manifest('ConfigMap', 'a')]);
    expect(group?.map(({ metadata }) => metadata.name)).toEqual(['b', 'a']);
  });

  test('treats only those of the API extension group as definitions', () => {
    expect(isDefinition({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' })).toBe(true);
    expect(isDefinition({ apiVersion: 'example.org/v1', kind: 'CustomResourceDefinition' })).toBe(false);
  });
});

describe('The random parts of a chart', () => {
  const rendering = (password: string, replicas = 1): readonly Manifest[] => [
    manifest('Secret', 'ca', { data: { key: password, fixed: 'same' } }),
    manifest('Deployment', 'app', { spec: { replicas } }, 'apps/v1'),
  ];

  test('are found by rendering twice', () => {
    const found = compareRenderings(rendering('a'), rendering('b'));
    expect(found.stable.map(({ kind }) => kind)).toEqual(['Deployment']);
    expect(found.generated).toEqual([rendering('a')[0]]);
  });

  test('are left out of the digest', () => {
    const one = compareRenderings(rendering('a'), rendering('b'));
    const other = compareRenderings(rendering('c'), rendering('d'));
    expect(one.digest).toBe(other.digest);
    expect(one.generatedDigest).toBe(other.generatedDigest);
  });

  test('leave every other part in the digest', () => {
    const one = compareRenderings(rendering('a'), rendering('b'));
    const other = compareRenderings(rendering('a', 2), rendering('b', 2));
    expect(other.digest).not.toBe(one.digest);
    expect(other.generatedDigest).toBe(one.generatedDigest);
  });

  test('must not be names, because each rendering would leave another object behind', () => {
    const job = (name: string): readonly Manifest[] => [manifest('Job', name, {}, 'batch/v1')];
    expect(() => compareRenderings(job('init-a'), job('init-b'))).toThrow(UnstableNamesError);
    expect(() => compareRenderings([], job('init-b'))).toThrow(UnstableNamesError);
  });

  test('are found in lists and in fields that are only sometimes there', () => {
    const list = (...items: readonly string[]): readonly Manifest[] => [manifest('ConfigMap', 'x', { items })];
    const found = compareRenderings(list('a', '1'), list('a', '2'));
    expect(found.generated).toHaveLength(1);
    expect(found.digest).toBe(compareRenderings(list('a', '3'), list('a', '4')).digest);
    expect(found.digest).not.toBe(compareRenderings(list('b', '1'), list('b', '2')).digest);
    expect(compareRenderings(list('a'), list('a', 'b')).generated).toHaveLength(1);
  });
});

const config = (...names: readonly string[]): ClusterAddonConfig => ({
  stages: { AfterControlPlaneInitialized: names.map((name) => ({ name, action: 'apply' as const })) },
});

describe('The inventory', () => {
  const policy = manifest('PodDisruptionBudget', 'app', {}, 'policy/v1beta1');

  test('defect 2: an object whose API version changed is the same object and is not pruned', () => {
    const inventory = [itemOf(policy, 'app')];
    const rendered = [itemOf({ ...policy, apiVersion: 'policy/v1' }, 'app')];
    expect(superfluousItems({ inventory, rendered, ran: new Set(['app']), config: config('app') })).toEqual([]);
    expect(withItems(inventory, rendered)).toEqual(rendered);
  });

  test('defect 3: objects of one name and different kinds do not shadow each other', () => {
    const objects = ['ServiceAccount', 'ConfigMap'].map((kind) => itemOf(manifest(kind, 'x'), 'app'));
    const inventory = withItems([], objects);
    expect(inventory).toHaveLength(2);
    const gone = superfluousItems({
      inventory,
      rendered: objects.slice(0, 1),
      ran: new Set(['app']),
      config: config('app'),
    });
    expect(gone).toEqual(objects.slice(1));
    expect(withoutItems(inventory, gone)).toEqual(objects.slice(0, 1));
  });

  test('defect 4: finds the stages of the old release by what they applied, not by the list of the new one', () => {
    const [old, kept] = [itemOf(manifest('ConfigMap', 'old'), 'old-cni'), itemOf(manifest('ConfigMap', 'new'), 'cni')];
    const gone = superfluousItems({
      inventory: [old, kept],
      rendered: [kept],
      ran: new Set(['cni']),
      config: config('cni'),
    });
    expect(gone).toEqual([old]);
  });

  test('keeps what belongs to stages that the release applies in another hook', () => {
    const other = itemOf(manifest('ConfigMap', 'metrics'), 'metrics-server');
    const gone = superfluousItems({
      inventory: [other],
      rendered: [],
      ran: new Set(['cni']),
      config: config('cni', 'metrics-server'),
    });
    expect(gone).toEqual([]);
  });

  test('lets an object move from one stage to another', () => {
    const before = itemOf(manifest('ConfigMap', 'x'), 'one');
    const after = itemOf(manifest('ConfigMap', 'x'), 'two');
    expect(withItems([before], [after])).toEqual([after]);
    const ran = new Set(['one', 'two']);
    expect(superfluousItems({ inventory: [after], rendered: [after], ran, config: config('one', 'two') })).toEqual([]);
  });

  test('is the same list if nothing is new, so that nothing is written', () => {
    const inventory = [itemOf(policy, 'app')];
    expect(withItems(inventory, [itemOf(policy, 'app')])).toBe(inventory);
  });
});
