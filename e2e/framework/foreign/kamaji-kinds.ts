import type { PlainObject } from '../../cluster/kubernetes-client.ts';

const group = 'kamaji.clastix.io';

function definition(kind: string, plural: string, scope: 'Cluster' | 'Namespaced'): PlainObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope, names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` } },
      versions: [
        {
          ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
        },
      ],
    },
  };
}

/** The definitions of Kamaji's kinds, with their names, and without their rules. */
export const kamajiDefinitions: readonly PlainObject[] = [
  definition('TenantControlPlane', 'tenantcontrolplanes', 'Namespaced'),
  definition('DataStore', 'datastores', 'Cluster'),
];
