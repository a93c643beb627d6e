import type { Json, KindRef, NamespacedResource, Resource, StoredMeta } from './meta.ts';

/** A validation rule in the Common Expression Language (CEL), which the API server evaluates. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  /** Path of the field that errors refer to, relative to the value with the rule. */
  readonly fieldPath?: string;
}

/**
 * The part of OpenAPI v3 that a structural schema may use
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema).
 */
export interface OpenApi {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly format?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: OpenApi;
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: OpenApi;
  readonly nullable?: boolean;
  /** Only in the fixed combination with int-or-string. */
  readonly anyOf?: readonly OpenApi[];
  readonly 'x-kubernetes-int-or-string'?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-embedded-resource'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

declare const read: unique symbol;
declare const written: unique symbol;

/**
 * A value that is both a TypeScript type and a structural OpenAPI schema. `T` is what the API server returns: fields
 * with a default are present. `I` is what an author may write: these fields are optional.
 */
export interface Schema<out T, out I = T> {
  readonly openapi: OpenApi;
  /** Never set. Carries the type that is read. */
  readonly [read]?: T;
  /** Never set. Carries the type that is written. */
  readonly [written]?: I;
}

/** An optional field. With a default, it is absent only in what authors write. */
export interface OptionalField<out T, out I, out D extends boolean> {
  readonly optional: Schema<T, I>;
  readonly defaulted: D;
}

/** What the API server returns for a value of this schema. */
export type Infer<S> = S extends Schema<infer T, unknown> ? T : never;

/** What an author may write for a value of this schema. */
export type Input<S> = S extends Schema<unknown, infer I> ? I : never;

type Field = Schema<unknown> | OptionalField<unknown, unknown, boolean>;
type Fields = Readonly<Record<string, Field>>;
type Flat<T> = { readonly [K in keyof T]: T[K] };

type PresentKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends OptionalField<unknown, unknown, false> ? never : K;
}[keyof F];
type RequiredKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends OptionalField<unknown, unknown, boolean> ? never : K;
}[keyof F];
type ReadOf<F> =
  F extends OptionalField<infer T, unknown, boolean> ? T : F extends Schema<infer T, unknown> ? T : never;
type WrittenOf<F> =
  F extends OptionalField<unknown, infer I, boolean> ? I : F extends Schema<unknown, infer I> ? I : never;

type ReadObject<F extends Fields> = Flat<
  { readonly [K in PresentKeys<F>]: ReadOf<F[K]> } & { readonly [K in Exclude<keyof F, PresentKeys<F>>]?: ReadOf<F[K]> }
>;
type WrittenObject<F extends Fields> = Flat<
  { readonly [K in RequiredKeys<F>]: WrittenOf<F[K]> } & {
    readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: WrittenOf<F[K]>;
  }
>;

const of = <T, I = T>(openapi: OpenApi): Schema<T, I> => ({ openapi });

interface Text {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

interface Range {
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Count {
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A string. Lengths are in Unicode code points. The pattern is RE2 and not implicitly anchored. */
export const str = (limits: Text = {}): Schema<string> => of({ type: 'string', ...limits });

/** A 32-bit integer. */
export const int32 = (limits: Range = {}): Schema<number> => of({ type: 'integer', format: 'int32', ...limits });

/** A 64-bit integer. JavaScript loses precision beyond 2^53. */
export const int64 = (limits: Range = {}): Schema<number> => of({ type: 'integer', format: 'int64', ...limits });

export const bool = (): Schema<boolean> => of({ type: 'boolean' });

/** One of the given strings. */
export const oneOf = <const E extends readonly [string, ...string[]]>(...values: E): Schema<E[number]> =>
  of({ type: 'string', enum: values });

/** An RFC 3339 time. */
export const time = (): Schema<string> => of({ type: 'string', format: 'date-time' });

/** Bytes, base64-encoded in JSON. */
export const bytes = (): Schema<string> => of({ type: 'string', format: 'byte' });

/** An integer or a string, e.g. a port by number or name. */
export const intOrString = (): Schema<number | string> =>
  of({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] });

/** A resource quantity (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/). */
export const quantity = (): Schema<number | string> =>
  of({
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  });

/** A list that is always replaced as a whole. */
export const list = <T, I>(items: Schema<T, I>, limits: Count = {}): Schema<readonly T[], readonly I[]> =>
  of({ type: 'array', items: items.openapi, 'x-kubernetes-list-type': 'atomic', ...limits });

/** A list without duplicates, merged by value. */
export const setOf = <T extends string | number>(items: Schema<T>, limits: Count = {}): Schema<readonly T[]> =>
  of({ type: 'array', items: items.openapi, 'x-kubernetes-list-type': 'set', ...limits });

/** A list of objects, merged by key fields. The key fields must be required or have a default. */
export const listMap = <T extends object, I extends object>(
  items: Schema<T, I>,
  keys: readonly [keyof T & string, ...(keyof T & string)[]],
  limits: Count = {},
): Schema<readonly T[], readonly I[]> =>
  of({
    type: 'array',
    items: items.openapi,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    ...limits,
  });

/** A map with arbitrary keys and values of one type. */
export const map = <T, I>(value: Schema<T, I>): Schema<Readonly<Record<string, T>>, Readonly<Record<string, I>>> =>
  of({ type: 'object', additionalProperties: value.openapi });

/** Any JSON value, including null. Nothing is pruned. */
export const anyJson = (): Schema<Json> => of({ 'x-kubernetes-preserve-unknown-fields': true, nullable: true });

/** An object in which nothing is pruned. */
export const preserveUnknown = (): Schema<Readonly<Record<string, Json>>> =>
  of({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });

/** An optional field. */
export function opt<T, I>(schema: Schema<T, I>): OptionalField<T, I, false>;
/** A field with a default, which the API server sets. The default must be valid input; nested defaults apply to it. */
export function opt<T, I>(schema: Schema<T, I>, byDefault: NoInfer<I>): OptionalField<T, I, true>;
export function opt<T, I>(schema: Schema<T, I>, byDefault?: I): OptionalField<T, I, boolean> {
  if (byDefault === undefined) return { optional: schema, defaulted: false };
  return { optional: of<T, I>({ ...schema.openapi, default: asJson(byDefault) }), defaulted: true };
}

/** An object. Fields that are not wrapped in `opt` are required. */
export function obj<F extends Fields>(
  fields: F,
  ...rules: readonly CelRule[]
): Schema<ReadObject<F>, WrittenObject<F>> {
  const properties: Record<string, OpenApi> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    if ('optional' in field) properties[name] = field.optional.openapi;
    else {
      properties[name] = field.openapi;
      required.push(name);
    }
  }
  return of({
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
  });
}

/** Adds a description, which appears in `kubectl explain` and in the reference pages. */
export const described = <T, I>(schema: Schema<T, I>, description: string): Schema<T, I> =>
  of({ ...schema.openapi, description });

/** Adds validation rules. */
export const ruled = <T, I>(schema: Schema<T, I>, ...rules: readonly CelRule[]): Schema<T, I> =>
  of({
    ...schema.openapi,
    'x-kubernetes-validations': [...(schema.openapi['x-kubernetes-validations'] ?? []), ...rules],
  });

/** A schema from elsewhere, e.g. from the OpenAPI documents of Kubernetes. The caller is responsible for the type. */
export const foreign = <T, I = T>(openapi: OpenApi): Schema<T, I> => of(openapi);

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** A printer column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  /** Above 0, shown only with `-o wide`. */
  readonly priority?: number;
}

/** One version of a kind. All versions have the same schema, so that no conversion is needed. */
export interface KindVersion {
  readonly name: string;
  readonly served: boolean;
  /** Exactly one version of a kind is the storage version. */
  readonly storage: boolean;
  readonly deprecated?: boolean;
  /** Columns of this version, if they differ from those of the kind. */
  readonly columns?: readonly Column[];
}

/** JSON paths of the scale subresource. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A part of a kind that another kind explains. */
export interface Referral {
  /** Path of an object from the root of the kind, such as `spec.template.spec`. */
  readonly path: string;
  /** The same fields in the other kind, as an argument of `kubectl explain`. */
  readonly explained: string;
}

/** An object of a kind of Steward as the API server returns it. */
export interface CustomResource<Spec, Status> extends Resource {
  readonly metadata: StoredMeta & { readonly generation: number };
  readonly spec: Spec;
  readonly status?: Status;
}

/** A kind of Steward: address, schema, and everything else in its CustomResourceDefinition. */
export interface Kind<Spec = unknown, Status = unknown, SpecInput = unknown> extends KindRef<
  CustomResource<Spec, Status>
> {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly versions: readonly [KindVersion, ...KindVersion[]];
  readonly description: string;
  readonly spec: Schema<Spec, SpecInput>;
  /** If set, the kind has the status subresource. */
  readonly status?: Schema<Status, unknown>;
  readonly scale?: ScalePaths;
  readonly columns: readonly Column[];
  /** Rules about the entire object. Of its metadata, they may read `name`. */
  readonly rules?: readonly CelRule[];
  /** The CustomResourceDefinition has only the first descriptions of this part. */
  readonly referral?: Referral;
  /** Labels of the CustomResourceDefinition itself. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A kind whose objects are in namespaces. */
export interface NamespacedKind<Spec = unknown, Status = unknown, SpecInput = unknown> extends Kind<
  Spec,
  Status,
  SpecInput
> {
  readonly namespaced: true;
  readonly object?: CustomResource<Spec, Status> & NamespacedResource;
}

/** The type of the objects of a kind, as read. */
export type ObjectOf<K> = K extends KindRef<infer T> ? T : never;
