import { described, int32, obj, opt, str } from '../schema.ts';

/** The fields of a ParentReference. */
const fields = {
  group: opt(
    described(
      str({
        maxLength: 253,
        pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
      }),
      'API group of the parent.',
    ),
    'gateway.networking.k8s.io',
  ),
  kind: opt(
    described(
      str({ minLength: 1, maxLength: 63, pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$' }),
      'Kind of the parent.',
    ),
    'Gateway',
  ),
  namespace: opt(
    described(
      str({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
      'Namespace of the parent. Defaults to the namespace of the route.',
    ),
  ),
  name: described(str({ minLength: 1, maxLength: 253 }), 'Name of the parent.'),
  sectionName: opt(
    described(
      str({
        minLength: 1,
        maxLength: 253,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
      }),
      'Name of a listener of the parent.',
    ),
  ),
  port: opt(described(int32({ minimum: 1, maximum: 65535 }), 'Port of a listener of the parent.')),
} as const;

/** A reference from a route to its Gateway (gateway.networking.k8s.io/v1, ParentReference). */
export const parentReference = obj(fields);

/** A Gateway in a spec. Its listeners are chosen beside the list: one by one, they are refused. */
export const gatewayParent = obj({
  ...fields,
  sectionName: opt(described(fields.sectionName.optional, 'Not supported: set `gateway.sectionName`.')),
  port: opt(described(fields.port.optional, 'Not supported: set `gateway.port`.')),
});

/** A host name of Gateway API. The first label may be a wildcard. */
export const gatewayHostname = str({
  minLength: 1,
  maxLength: 253,
  pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
});
