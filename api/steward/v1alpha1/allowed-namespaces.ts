import { core } from '../../core/core-schema.ts';
import type { Infer } from '../../schema.ts';
import { described, obj, opt, setOf, str } from '../../schema.ts';

/** The namespaces whose tenants a DataStore takes. */
export const allowedNamespaces = obj(
  {
    names: opt(
      described(
        setOf(str({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }), { maxItems: 1024 }),
        'Namespaces by name.',
      ),
    ),
    selector: opt(described(core('LabelSelector'), 'Namespaces by their labels, besides those that are named.')),
  },
  { rule: 'has(self.names) || has(self.selector)', message: 'allowedNamespaces needs names, a selector, or both' },
);
export type AllowedNamespaces = Infer<typeof allowedNamespaces>;
