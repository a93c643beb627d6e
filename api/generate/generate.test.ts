import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { allKinds } from '../all-kinds.ts';
import type { Manifest, PolicyRule } from '../meta.ts';
import { described, obj, opt, str } from '../schema.ts';
import type { Kind, OpenApi } from '../schema.ts';
import { tenantControlPlane } from '../steward/v1alpha1/tenant-control-plane.ts';
import { crd, objectSchema } from './crd.ts';
import { fieldLeaves } from './field-leaves.ts';
import { generatedFiles } from './generated-files.ts';
import { conditionsPage, kindPage } from './reference-docs.ts';
import { roleManifest } from './role.ts';
import type { DeclaredAccess } from './role.ts';
import { withoutDescriptions } from './without-descriptions.ts';
import { yamlText } from './yaml-text.ts';

const widget: Kind = {
  group: 'example.com',
  version: 'v2',
  kind: 'BigWidget',
  plural: 'bigwidgets',
  namespaced: true,
  singular: 'bigwidget',
  listKind: 'BigWidgetList',
  shortNames: ['bw'],
  categories: [],
  versions: [
    { name: 'v1', served: true, storage: true, deprecated: true, columns: [] },
    { name: 'v2', served: true, storage: false },
  ],
  description: 'A widget.',
  spec: obj({ size: opt(described(str({ maxLength: 3 }), 'How big | how heavy.'), 'XL') }),
  columns: [{ name: 'Size', type: 'string', jsonPath: '.spec.size' }],
  labels: { a: 'b' },
};

/** The schema in the definition of a kind, of its newest version. */
function definedSchema(kind: Kind): OpenApi {
  const { versions } = crd(kind).spec as {
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: OpenApi } }[];
  };
  return versions.find(({ name }) => name === kind.version)?.schema.openAPIV3Schema ?? {};
}

function fieldAt(schema: OpenApi, path: string): OpenApi {
  return path.split('.').reduce((at: OpenApi, name) => at.properties?.[name] ?? {}, schema);
}

describe('crd', () => {
  test('contains everything that a kind declares, and one schema for all its versions', () => {
    const definition = crd(widget);
    expect(definition).toMatchObject({
      metadata: { name: 'bigwidgets.example.com', labels: { a: 'b' } },
      spec: { group: 'example.com', scope: 'Namespaced', conversion: { strategy: 'None' } },
    });
    const { names, versions } = definition.spec as {
      readonly names: unknown;
      readonly versions: readonly unknown[];
    };
    expect(names).toEqual({
      kind: 'BigWidget',
      listKind: 'BigWidgetList',
      plural: 'bigwidgets',
      singular: 'bigwidget',
      shortNames: ['bw'],
    });
    expect(versions).toMatchObject([
      { name: 'v1', storage: true, deprecated: true, additionalPrinterColumns: [], subresources: {} },
      { name: 'v2', storage: false, additionalPrinterColumns: [{ name: 'Size' }] },
    ]);
  });

  test.each(allKinds.map((kind) => [kind.kind, kind] as const))(
    '%s stores exactly one version and serves all',
    (_, kind) => {
      expect(kind.versions.filter(({ storage }) => storage)).toHaveLength(1);
      expect(kind.versions.every(({ served }) => served)).toBe(true);
      expect(kind.versions.map(({ name }) => name)).toContain(kind.version);
      // Cluster API computes the name of the CustomResourceDefinition in this way, and clusterctl rejects any other.
      const plural = `${kind.kind.toLowerCase()}s`.replace(/ys$/, 'ies');
      expect(crd(kind).metadata.name).toBe(`${plural}.${kind.group}`);
    },
  );

  const ours = allKinds.filter(({ namespaced, group }) => namespaced && group !== 'clusterstack.x-k8s.io');
  test.each(ours.map((kind) => [kind.kind, kind] as const))(
    '%s is among what `kubectl get steward` lists in a namespace',
    (_, kind) => {
      const { names } = crd(kind).spec as { readonly names: { readonly categories?: readonly string[] } };
      expect(names.categories ?? []).toContain('steward');
    },
  );

  const referring = allKinds.filter(({ referral }) => referral !== undefined);
  test.each(referring.map((kind) => [kind.kind, kind] as const))(
    '%s describes only the first fields of what another kind explains, and validates all of it',
    (_, kind) => {
      const whole = objectSchema(kind);
      const defined = definedSchema(kind);
      expect(withoutDescriptions(defined)).toEqual(withoutDescriptions(whole));
      const { path = '', explained = '' } = kind.referral ?? {};
      const [part, wholePart] = [fieldAt(defined, path), fieldAt(whole, path)];
      expect(part.description).toBe(
        `${wholePart.description ?? ''} What is in these fields: \`kubectl explain ${explained}\`.`,
      );
      const first = Object.entries(part.properties ?? {});
      expect(first.map(([, { description }]) => description)).toEqual(
        Object.values(wholePart.properties ?? {}).map(({ description }) => description),
      );
      for (const [, field] of first) {
        expect(field).toEqual({ ...withoutDescriptions(field), description: field.description });
      }
      const [singular = '', ...inside] = explained.split('.');
      const other = allKinds.find((each) => each.singular === singular);
      expect(other).toBeDefined();
      if (other === undefined) return;
      const explaining = fieldAt(definedSchema(other), inside.join('.'));
      expect(first.map(([name]) => name)).toEqual(Object.keys(explaining.properties ?? {}));
    },
  );

  test('a pool of control planes refers to the control planes', () => {
    expect(referring.map(({ kind }) => kind)).toEqual(['ControlPlanePool']);
  });

  // All annotations of an object together are limited to 256 KiB, and kubectl stores the whole manifest in one.
  test.each(allKinds.map((kind) => [kind.kind, kind] as const))(
    'is small enough for kubectl apply to record: %s',
    (_, kind) => {
      expect(JSON.stringify(crd(kind)).length).toBeLessThan(250_000);
    },
  );
});

describe('yamlText', () => {
  test('is read back unchanged by readers of YAML 1.1 and of YAML 1.2', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.integer())), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        for (const version of ['1.1', '1.2'] as const) expect(parse(yamlText(value), { version })).toEqual(plain);
      }),
    );
  });

  test('quotes words that YAML 1.1 reads as booleans, and repeats shared values', () => {
    const shared = { on: 'yes' };
    expect(yamlText({ a: shared, b: shared })).toBe('a:\n  "on": "yes"\nb:\n  "on": "yes"\n');
  });
});

const clusterRole = (name: string, parts: readonly DeclaredAccess[]): Manifest => roleManifest({ name, parts });

describe('roleManifest', () => {
  const rule = (resources: readonly string[], ...verbs: readonly string[]): PolicyRule => ({
    apiGroups: [''],
    resources,
    verbs,
  });

  test('joins the verbs of rules with the same target and keeps a stable order', () => {
    const parts = [
      { name: 'one', access: [rule(['secrets'], 'get', 'list'), rule(['pods'], 'get')] },
      { name: 'two', access: [rule(['secrets'], 'watch', 'get')] },
    ];
    const role = clusterRole('manager', parts);
    expect(role.rules).toEqual([rule(['pods'], 'get'), rule(['secrets'], 'get', 'list', 'watch')]);
    expect(clusterRole('manager', [...parts].reverse())).toEqual(role);
  });

  test('joins resources with the same verbs, and separates permissions on named objects', () => {
    const named = { ...rule(['secrets'], 'patch'), resourceNames: ['one'] };
    const role = clusterRole('manager', [{ name: 'one', access: [rule(['pods', 'secrets'], 'get'), named] }]);
    expect(role.rules).toEqual([rule(['pods', 'secrets'], 'get'), named]);
  });

  test('grants every declared permission and no other', () => {
    const words = (...all: readonly string[]) => fc.subarray([...all], { minLength: 1 });
    const rules = fc.array(
      fc.record({
        apiGroups: words('', 'apps'),
        resources: words('a', 'b', 'c'),
        verbs: words('get', 'list', 'patch'),
      }),
    );
    const rightsOf = (all: readonly PolicyRule[]): readonly string[] => [
      ...new Set(
        all.flatMap(({ apiGroups = [], resources = [], verbs }) =>
          apiGroups.flatMap((group) => resources.flatMap((one) => verbs.map((verb) => `${group}/${one} ${verb}`))),
        ),
      ),
    ];
    fc.assert(
      fc.property(rules, (access) => {
        const granted = clusterRole('manager', [{ name: 'one', access }]).rules as readonly PolicyRule[];
        expect([...rightsOf(granted)].sort()).toEqual([...rightsOf(access)].sort());
      }),
    );
  });

  test('grants nothing when nothing is declared', () => {
    expect(clusterRole('manager', []).rules).toEqual([]);
  });

  test('is a Role if there is a namespace', () => {
    const role = roleManifest({ name: 'a', namespace: 'b', parts: [{ name: 'one', access: [rule(['jobs'], 'get')] }] });
    expect(role).toMatchObject({
      kind: 'Role',
      metadata: { name: 'a', namespace: 'b' },
      rules: [rule(['jobs'], 'get')],
    });
  });
});

describe('the reference pages', () => {
  test('a field is a row with its type, default, limits and description', () => {
    expect(kindPage(widget)).toContain(
      '| `spec.size` | string | `"XL"` | How big \\| how heavy. — at most 3 characters |',
    );
  });

  test.each(allKinds.map((kind) => [kind.kind, kind] as const))('every field of %s is a row of its page', (_, kind) => {
    const page = kindPage(kind);
    const fields = [
      ...fieldLeaves(kind.spec.openapi, 'spec'),
      ...(kind.status === undefined ? [] : fieldLeaves(kind.status.openapi, 'status')),
    ];
    expect(fields.length).toBeGreaterThan(2);
    // The row of a list of Kubernetes objects is that of the list.
    const rows = fields.map((field) => `\n| \`${field.replace(/(\[\]|\.\*)$/, '')}\` | `);
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  });

  test('fields of Kubernetes types are not repeated, but linked', () => {
    const page = kindPage(tenantControlPlane);
    expect(page).toContain('[Toleration](https://kubernetes.io/');
    expect(page).not.toContain('tolerations[].key');
    expect(page).toContain('string or list of strings');
  });

  test('every condition of the table is on the page', () => {
    expect(conditionsPage()).toContain('### ControlPlaneAvailable');
  });
});

describe('generatedFiles', () => {
  test('names files after group, plural and kind', () => {
    expect([...generatedFiles([widget], []).keys()]).toEqual([
      'config/crd/example.com_bigwidgets.yaml',
      'config/crd/kustomization.yaml',
      'config/rbac/role.yaml',
      'docs/reference/generated/big-widget.md',
      'docs/reference/generated/conditions.md',
    ]);
  });
});
