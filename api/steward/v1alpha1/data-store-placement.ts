import type { CelRule, Infer } from '../../schema.ts';
import { described, int32, listMap, list, obj, oneOf, opt, quantity, str } from '../../schema.ts';

/** A label key: an optional DNS subdomain and a name (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/). */
const keyPattern = '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$';
const valuePattern = '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$';

const taintKey = str({ minLength: 1, maxLength: 317, pattern: keyPattern });
const taintValue = str({ maxLength: 63, pattern: valuePattern });
const effect = oneOf('NoPlacement', 'PreferNoPlacement');

const taint = obj({
  key: described(taintKey, 'Key of the taint, as that of a label.'),
  value: opt(described(taintValue, 'Value of the taint, as that of a label.')),
  effect: described(
    effect,
    'NoPlacement: no tenant that does not tolerate the taint is placed here. PreferNoPlacement: only where nothing else fits.',
  ),
});
/** Keeps tenants that do not tolerate it from being placed in a DataStore. */
export type DataStoreTaint = Infer<typeof taint>;

const capacity = obj({
  tenants: opt(described(int32({ minimum: 0 }), 'Tenants that the store takes; 0 takes no more.')),
  size: opt(
    described(quantity(), 'Bytes that the store takes, e.g. `8Gi`; a store that holds more takes no more tenants.'),
  ),
});

/** How a DataStore takes part in the placement of tenants that name none. */
export const dataStorePlacement = obj({
  taints: opt(
    described(
      listMap(taint, ['key', 'effect'], { maxItems: 32 }),
      'Keep tenants away that do not tolerate them. Those that are in the store stay.',
    ),
  ),
  capacity: opt(
    described(capacity, 'How much is placed here. Tenants that name the DataStore are counted and not refused.'),
  ),
  weight: opt(
    described(
      int32({ minimum: 1, maximum: 1000 }),
      'How much the store bears compared with others: with 3 it gets three times as many tenants as with 1.',
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
      described(str({ maxLength: 317 }), 'Key of the taints that are tolerated; empty, with Exists: every key.'),
    ),
    operator: opt(described(oneOf('Equal', 'Exists'), 'Equal: the values are the same. Exists: any value.'), 'Equal'),
    value: opt(described(taintValue, 'Value of the taints that are tolerated, with Equal.')),
    effect: opt(described(effect, 'Effect of the taints that are tolerated; every effect when it is left out.')),
  },
  ...tolerationRules,
);
/** Taints of DataStores that a tenant puts up with; the words are those of pods and nodes. */
export type DataStoreToleration = Infer<typeof toleration>;

/** The tolerations of a tenant. */
export const dataStoreTolerations = list(toleration, { maxItems: 32 });
