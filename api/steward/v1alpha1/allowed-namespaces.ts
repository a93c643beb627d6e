import { core } from '../../core/core-schema.ts';
import type { Infer } from '../../schema.ts';
import { described, obj, opt, setOf, str } from '../../schema.ts';

/** Namespaces whose tenants may use a DataStore. */
export const allowedNamespaces = obj(
  {
    names: opt(
      described(
        setOf(str({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }), { maxItems: 1024 }),
        'Names of allowed namespaces.',
      ),
    ),
    selector: opt(described(core('LabelSelector'), 'Label selector for allowed namespaces, in addition to `names`.')),
  },
  {
    rule: 'has(self.names) || has(self.selector)',
    message: 'allowedNamespaces must set names, selector, or both; names: [] alone allows no namespace',
  },
);
export type AllowedNamespaces = Infer<typeof allowedNamespaces>;
