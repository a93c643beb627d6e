import type { Manifest } from '../meta.ts';
import type { Column, Kind, KindVersion, OpenApi } from '../schema.ts';
import { obj } from '../schema.ts';
import { referredSchema } from './referred-schema.ts';
import { withoutDescriptions } from './without-descriptions.ts';

/** Name of the CustomResourceDefinition of a kind. Cluster API computes the same one from group and kind. */
export const crdName = (kind: Pick<Kind, 'plural' | 'group'>): string => `${kind.plural}.${kind.group}`;

/** The schema of entire objects of a kind. The API server validates the metadata. */
export function objectSchema(kind: Kind): OpenApi {
  const text = (description: string): OpenApi => ({ type: 'string', description });
  return {
    type: 'object',
    description: kind.description,
    properties: {
      apiVersion: text('API version of this object.'),
      kind: text('Kind of this object.'),
      metadata: { type: 'object' },
      spec: kind.spec.openapi,
      ...(kind.status && { status: kind.status.openapi }),
    },
    required: obj({ spec: kind.spec }).openapi.required ?? [],
    ...(kind.rules && { 'x-kubernetes-validations': kind.rules }),
  };
}

const column = (from: Column): Column => ({ ...from });

function version(kind: Kind, from: KindVersion, schema: OpenApi): object {
  return {
    name: from.name,
    served: from.served,
    storage: from.storage,
    ...(from.deprecated && { deprecated: true }),
    additionalPrinterColumns: (from.columns ?? kind.columns).map(column),
    schema: { openAPIV3Schema: schema },
    subresources: { ...(kind.status && { status: {} }), scale: kind.scale },
  };
}

/**
 * The CustomResourceDefinition of a kind (apiextensions.k8s.io/v1). The conversion strategy is `None`: all versions have
 * the same schema, and a conversion webhook that nothing serves would make every object unreadable. Only the newest version has
 * descriptions: `kubectl apply` takes no definition above 256 KiB, and `kubectl explain` shows the newest version by default.
 */
export function crd(kind: Kind): Manifest {
  const whole = objectSchema(kind);
  const schema = kind.referral === undefined ? whole : referredSchema(whole, kind.referral);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crdName(kind), labels: kind.labels, annotations: kind.annotations },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: kind.listKind,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
        ...(kind.categories.length > 0 && { categories: kind.categories }),
      },
      scope: kind.namespaced ? 'Namespaced' : 'Cluster',
      conversion: { strategy: 'None' },
      versions: kind.versions.map((one) =>
        version(kind, one, one.name === kind.version ? schema : withoutDescriptions(schema)),
      ),
    },
  };
}
