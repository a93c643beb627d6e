import type { Infer } from '../schema.ts';
import { described, obj, opt, str } from '../schema.ts';

/** What a StewardControlPlane keeps of a TenantControlPlane that was deleted alone, until another one has taken its place. */
export const keptTenancy = obj({
  formerUID: described(str({ minLength: 1 }), 'UID of the TenantControlPlane that was deleted.'),
  record: described(str(), 'Its spec and what its status recorded of its data, as JSON.'),
  heirUID: opt(described(str(), 'UID of the TenantControlPlane that was made in its place and takes its data over.')),
});
export type KeptTenancy = Infer<typeof keptTenancy>;
