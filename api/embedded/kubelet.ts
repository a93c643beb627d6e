import { anyJson, described, list, obj, oneOf, opt, setOf, str } from '../schema.ts';

/** Kinds of node addresses, as in `Node.status.addresses[].type`. */
export const nodeAddressType = oneOf('Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS');

/** One operation of RFC 6902. */
export const jsonPatch = obj({
  op: oneOf('add', 'remove', 'replace', 'move', 'copy', 'test'),
  path: described(str(), 'JSON pointer to the target, e.g. `/evictionHard/imagefs.available`.'),
  from: opt(described(str(), 'JSON pointer to the source of `move` and `copy`.')),
  value: opt(described(anyJson(), 'Value of `add`, `replace` and `test`.')),
});

export const kubeletFields = {
  configurationJSONPatches: opt(
    described(list(jsonPatch), "Changes to the KubeletConfiguration that joining nodes receive, in RFC 6902's format."),
  ),
  preferredAddressTypes: opt(
    described(
      setOf(nodeAddressType, { minItems: 1 }),
      'Order in which kube-apiserver tries the addresses of a node to reach its kubelet.',
    ),
    ['InternalIP', 'ExternalIP', 'Hostname'],
  ),
} as const;

const cgroupDriver = described(
  oneOf('systemd', 'cgroupfs'),
  'Driver of control groups on the nodes; deprecated, use `configurationJSONPatches` on `/cgroupDriver`.',
);

/** What joining kubelets are told. */
export const kubelet = obj({ ...kubeletFields, cgroupfs: opt(cgroupDriver) });
