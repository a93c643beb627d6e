import { described, int32, obj, opt, str } from '../schema.ts';

/** A reference from a route to its Gateway (gateway.networking.k8s.io/v1, ParentReference). */
export const parentReference = obj({
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
});

/** A host name of Gateway API. The first label may be a wildcard. */
export const gatewayHostname = str({
  minLength: 1,
  maxLength: 253,
  pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
});
