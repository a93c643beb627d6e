import type { Infer } from '../schema.ts';
import { described, obj, opt, str } from '../schema.ts';

/**
 * The retained record of a TenantControlPlane that was deleted on its own. It stays until a successor has adopted the
 * data.
 */
export const keptTenancy = obj({
  formerUID: described(str({ minLength: 1 }), 'UID of the deleted TenantControlPlane.'),
  record: described(
    str(),
    'Spec of the deleted TenantControlPlane and what its status recorded about its data, as JSON.',
  ),
  heirUID: opt(described(str(), 'UID of the TenantControlPlane that replaces the deleted one and adopts its data.')),
});
export type KeptTenancy = Infer<typeof keptTenancy>;
