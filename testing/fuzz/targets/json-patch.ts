import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { applyJsonPatches } from '../../../kubeadm/json-patch.ts';
import type { JsonPatchOperation } from '../../../kubeadm/json-patch.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const document = { kind: 'KubeletConfiguration', list: [1, 2], inner: { a: 'b' } };

/** The patches of a kubelet's configuration. */
export const jsonPatch: FuzzTarget = {
  name: 'json-patch',
  from: 'the author of a TenantControlPlane',
  seeds: () => [
    '[{"op":"add","path":"/list/-","value":3},{"op":"replace","path":"/inner/a","value":{}}]',
    '[{"op":"move","from":"/inner","path":"/other"},{"op":"test","path":"/kind","value":"x"},{"op":"copy","from":"/list/0","path":"/x~1y"}]',
  ],
  // JSON.parse is not what is tried here.
  refusals: [InvalidInputError, SyntaxError],
  parse: (input) => {
    const operations: unknown = JSON.parse(input.toString());
    // The schema sees to it that it is a list of objects with these fields.
    if (!Array.isArray(operations)) return;
    const valid = operations.filter((one): one is JsonPatchOperation => {
      const { op, path, from } = (one ?? {}) as Record<string, unknown>;
      return typeof op === 'string' && typeof path === 'string' && (from === undefined || typeof from === 'string');
    });
    const before = JSON.stringify(document);
    applyJsonPatches(document, valid, 'patches');
    kept(JSON.stringify(document) === before, 'the document itself is unchanged');
    kept(Object.keys(Object.prototype).length === 0, 'no patch reaches the prototype of objects');
  },
};
