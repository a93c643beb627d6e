/**
 * Development script: extracts the Kubernetes types that our kinds embed from the OpenAPI v3 documents of Kubernetes,
 * and writes them to `api/core/generated/core.json` as structural schemas.
 *
 *     node api/core/extract.ts <directory with the documents named below>
 *
 * The directory is `api/openapi-spec/v3` of the Go module k8s.io/kubernetes at the version pinned below: `go mod
 * download -json k8s.io/kubernetes@v1.36.3` prints its location.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The Kubernetes release to extract from. */
const release = 'v1.36.3';

/** Definitions to extract: our name → document (group and version), name in the document. */
const wanted = {
  Affinity: ['api__v1', 'io.k8s.api.core.v1.Affinity'],
  Container: ['api__v1', 'io.k8s.api.core.v1.Container'],
  LabelSelector: ['api__v1', 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector'],
  LoadBalancerStatus: ['api__v1', 'io.k8s.api.core.v1.LoadBalancerStatus'],
  PodSecurityContext: ['api__v1', 'io.k8s.api.core.v1.PodSecurityContext'],
  ResourceRequirements: ['api__v1', 'io.k8s.api.core.v1.ResourceRequirements'],
  SecurityContext: ['api__v1', 'io.k8s.api.core.v1.SecurityContext'],
  Toleration: ['api__v1', 'io.k8s.api.core.v1.Toleration'],
  TopologySpreadConstraint: ['api__v1', 'io.k8s.api.core.v1.TopologySpreadConstraint'],
  Volume: ['api__v1', 'io.k8s.api.core.v1.Volume'],
  VolumeMount: ['api__v1', 'io.k8s.api.core.v1.VolumeMount'],
  HorizontalPodAutoscalerBehavior: [
    'apis__autoscaling__v2',
    'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior',
  ],
  DeploymentStrategy: ['apis__apps__v1', 'io.k8s.api.apps.v1.DeploymentStrategy'],
} as const;

interface Source {
  readonly $ref?: string;
  readonly allOf?: readonly Source[];
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly items?: Source;
  readonly properties?: Readonly<Record<string, Source>>;
  readonly additionalProperties?: Source;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
}

type Definitions = Readonly<Record<string, Source>>;
type Structural = Readonly<Record<string, unknown>>;

const intOrString = { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };

/** Types whose definition in the document is not sufficient for a structural schema. */
const special: Readonly<Record<string, Structural>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': intOrString,
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    ...intOrString,
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  },
  // Only for embedded templates: the metadata that a template may set.
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    type: 'object',
    properties: {
      annotations: { type: 'object', additionalProperties: { type: 'string' } },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
};

const kept = ['type', 'format', 'x-kubernetes-map-type'] as const;

/**
 * Resolves references and keeps what a structural schema may contain. Drops descriptions, which would make the
 * definitions too large for the annotation of `kubectl apply`. Also drops defaults, except those of list-map keys: the
 * API server sets the others when the pods are created.
 */
function structural(source: Source, all: Definitions, keepDefault = false): Structural {
  const name = referenceOf(source);
  if (name !== undefined) return special[name] ?? structural(resolve(source, all), all);
  const { required, additionalProperties, items } = source;
  return {
    ...Object.fromEntries(kept.filter((key) => source[key] !== undefined).map((key) => [key, source[key]])),
    ...(keepDefault && source.default !== undefined && { default: source.default }),
    ...(source.properties && { properties: properties(source, all, keepDefault) }),
    ...(required && { required }),
    ...(additionalProperties && { additionalProperties: structural(additionalProperties, all) }),
    ...(items && arrayOf(source, items, all)),
  };
}

function properties(source: Source, all: Definitions, keepDefault: boolean): Structural {
  const entries = Object.entries(source.properties ?? {});
  const optional = (name: string): boolean => !(source.required ?? []).includes(name);
  return Object.fromEntries(
    entries.map(([name, property]) => [name, structural(property, all, keepDefault && optional(name))]),
  );
}

/** Keys of map lists keep their defaults: the API server rejects a list whose items may lack all keys. */
function arrayOf(source: Source, items: Source, all: Definitions): Structural {
  const keys = source['x-kubernetes-list-map-keys'];
  const plain = structural(items, all);
  if (source['x-kubernetes-list-type'] !== 'map' || keys === undefined) {
    return { items: plain, 'x-kubernetes-list-type': source['x-kubernetes-list-type'] ?? 'atomic' };
  }
  const defaults = (structural(resolve(items, all), all, true).properties ?? {}) as Record<string, Structural>;
  const fields = plain.properties as Record<string, Structural>;
  const patched = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const byDefault = keys.includes(name) ? defaults[name]?.default : undefined;
      return [name, byDefault === undefined ? field : { ...field, default: byDefault }];
    }),
  );
  return {
    items: { ...plain, properties: patched },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  };
}

const referenceOf = (source: Source): string | undefined =>
  (source.$ref ?? source.allOf?.[0]?.$ref)?.replace('#/components/schemas/', '');

function resolve(source: Source, all: Definitions): Source {
  const name = referenceOf(source);
  if (name === undefined) return source;
  const target = all[name];
  if (target === undefined) throw new Error(`the document refers to ${name} but does not define it`);
  return target;
}

function main(directory: string | undefined): void {
  if (directory === undefined) {
    throw new Error('usage: node api/core/extract.ts <directory with api__v1_openapi.json>');
  }
  const documents = new Map<string, Definitions>();
  const definitionsOf = (document: string): Definitions => {
    const known = documents.get(document);
    if (known) return known;
    const text = readFileSync(join(directory, `${document}_openapi.json`), 'utf8');
    const parsed = JSON.parse(text) as { readonly components: { readonly schemas: Definitions } };
    documents.set(document, parsed.components.schemas);
    return parsed.components.schemas;
  };
  const header = {
    $comment:
      `Extracted by api/core/extract.ts from the OpenAPI documents of Kubernetes ${release}, ` +
      'Copyright The Kubernetes Authors, Apache License 2.0 (https://www.apache.org/licenses/LICENSE-2.0). Do not edit.',
  };
  const definitions = Object.fromEntries(
    Object.entries(wanted).map(([name, [document, definition]]) => {
      const all = definitionsOf(document);
      return [name, structural({ $ref: `#/components/schemas/${definition}` }, all)];
    }),
  );
  const target = new URL('generated/core.json', import.meta.url);
  writeFileSync(target, `${JSON.stringify({ ...header, definitions }, null, 1)}\n`);
}

main(process.argv[2]);
