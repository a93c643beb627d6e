import { anyJson, described, list, obj, oneOf, opt, setOf, str } from '../schema.ts';

/** Types of node addresses, as in `Node.status.addresses[].type`. */
export const nodeAddressType = oneOf('Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS');

/** One JSON Patch operation (RFC 6902). */
export const jsonPatch = obj({
  op: described(oneOf('add', 'remove', 'replace', 'move', 'copy', 'test'), 'What the operation does at `path`.'),
  path: described(str(), 'JSON pointer to the target, e.g. `/evictionHard/imagefs.available`.'),
  from: opt(described(str(), 'JSON pointer to the source of `move` and `copy`.')),
  value: opt(described(anyJson(), 'Value of `add`, `replace` and `test`.')),
});

export const kubeletFields = {
  configurationJSONPatches: opt(
    described(list(jsonPatch), 'JSON patches (RFC 6902) for the KubeletConfiguration that joining nodes receive.'),
  ),
  preferredAddressTypes: opt(
    described(
      setOf(nodeAddressType, { minItems: 1 }),
      'Node address types, in the order in which kube-apiserver tries them to reach a kubelet.',
    ),
    ['InternalIP', 'ExternalIP', 'Hostname'],
  ),
} as const;

const cgroupDriver = described(
  oneOf('systemd', 'cgroupfs'),
  'Cgroup driver of the nodes. Deprecated: patch `/cgroupDriver` with `configurationJSONPatches` instead.',
);

/** Configuration of joining kubelets. */
export const kubelet = obj({ ...kubeletFields, cgroupfs: opt(cgroupDriver) });
