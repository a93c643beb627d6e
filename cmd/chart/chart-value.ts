/** One value of a Helm chart: its schema, its default and its documentation come from here. */
export interface ChartValue {
  readonly type: 'string' | 'integer' | 'boolean' | 'object' | 'array';
  readonly description: string;
  /** Absent for an object with properties: it is made of theirs. */
  readonly default?: unknown;
  /** The values inside; an object without them takes any content. */
  readonly properties?: ChartValues;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  /** Type of an array's entries; objects by default. */
  readonly items?: 'string' | 'object';
}

/** The values of a chart, by name, in the order in which people read them. */
export type ChartValues = Readonly<Record<string, ChartValue>>;

type Rest = Omit<ChartValue, 'type' | 'description' | 'default' | 'properties'>;

/** A text. */
export const text = (byDefault: string, description: string, rest: Rest = {}): ChartValue => ({
  type: 'string',
  description,
  default: byDefault,
  ...rest,
});

/** A whole number. */
export const count = (byDefault: number, description: string, rest: Rest = {}): ChartValue => ({
  type: 'integer',
  description,
  default: byDefault,
  ...rest,
});

/** A switch. */
export const flag = (byDefault: boolean, description: string): ChartValue => ({
  type: 'boolean',
  description,
  default: byDefault,
});

/** Anything that Kubernetes takes at this place. */
export const anything = (byDefault: object, description: string): ChartValue => ({
  type: Array.isArray(byDefault) ? 'array' : 'object',
  description,
  default: byDefault,
});

/** A list of texts. */
export const texts = (description: string): ChartValue => ({
  type: 'array',
  description,
  default: [],
  items: 'string',
});

/** Values under a common name. */
export const group = (description: string, properties: ChartValues): ChartValue => ({
  type: 'object',
  description,
  properties,
});
