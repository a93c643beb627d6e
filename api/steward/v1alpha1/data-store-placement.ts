import type { CelRule, Infer } from '../../schema.ts';
import { described, int32, listMap, list, obj, oneOf, opt, quantity, str } from '../../schema.ts';

/**
 * A label key: an optional DNS subdomain as prefix, and a name
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/).
 */
const keyPattern = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';
const valuePattern = '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$';

const taintKey = str({ minLength: 1, maxLength: 317, pattern: keyPattern });
const taintValue = str({ maxLength: 63, pattern: valuePattern });
const effect = oneOf('NoPlacement', 'PreferNoPlacement');

const taint = obj({
  key: described(taintKey, 'Key of the taint, in the format of a label key.'),
  value: opt(described(taintValue, 'Value of the taint, in the format of a label value.')),
  effect: described(
    effect,
    'Effect on tenants that do not tolerate the taint. NoPlacement: they are not placed here. PreferNoPlacement: they are placed here only if no other DataStore fits.',
  ),
});
/** Keeps tenants that do not tolerate it from being placed in a DataStore. */
export type DataStoreTaint = Infer<typeof taint>;

const capacity = obj({
  tenants: opt(
    described(
      int32({ minimum: 0 }),
      'Number of tenants at which the datastore is full. If 0, no tenant is placed here.',
    ),
  ),
  size: opt(
    described(
      quantity(),
      'Number of stored bytes at which the datastore is full, e.g. `8Gi`. From then on, no tenant is placed here.',
    ),
  ),
});

/** How a DataStore takes part in the placement of tenants that name none. */
export const dataStorePlacement = obj({
  taints: opt(
    described(
      listMap(taint, ['key', 'effect'], { maxItems: 32 }),
      'Taints, which keep tenants that do not tolerate them from being placed here. Tenants that are already here stay.',
    ),
  ),
  capacity: opt(
    described(
      capacity,
      'Limits for placement. Tenants that name the DataStore count towards the limits but are not rejected by them.',
    ),
  ),
  weight: opt(
    described(
      int32({ minimum: 1, maximum: 1000 }),
      'Capacity relative to other DataStores: with weight 3, it gets three times as many tenants as with weight 1.',
    ),
    1,
  ),
});

const tolerationRules: readonly CelRule[] = [
  {
    rule: "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || size(self.value) == 0",
    message: 'value must be empty when operator is Exists',
  },
  {
    rule: "(has(self.key) && size(self.key) > 0) || (has(self.operator) && self.operator == 'Exists')",
    message: 'operator must be Exists when key is empty',
  },
];

const toleration = obj(
  {
    key: opt(
      described(
        str({ maxLength: 317 }),
        'Key of the tolerated taints. If empty, `operator` must be Exists, and all keys match.',
      ),
    ),
    operator: opt(
      described(oneOf('Equal', 'Exists'), 'Equal: the values are equal. Exists: any value matches.'),
      'Equal',
    ),
    value: opt(described(taintValue, 'Value of the tolerated taints, with operator Equal.')),
    effect: opt(described(effect, 'Effect of the tolerated taints. If unset, all effects match.')),
  },
  ...tolerationRules,
);
/** A toleration for DataStore taints. Fields and semantics are those of pods and nodes. */
export type DataStoreToleration = Infer<typeof toleration>;

export const dataStoreTolerations = list(toleration, { maxItems: 32 });
