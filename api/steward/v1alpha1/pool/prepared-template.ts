import type { CelRule, Infer, Schema } from '../../../schema.ts';
import { described, foreign, map, obj, opt, ruled, str } from '../../../schema.ts';
import { tenantControlPlaneSpec } from '../tenant-control-plane-spec.ts';
import { withoutTransitions } from './without-transitions.ts';

/** A field that would be the same in several control planes, where it can only belong to one. */
const onlyForOne = (field: string, what: string): CelRule => {
  const present = field
    .split('.')
    .map((_, index, parts) => `has(self.${parts.slice(0, index + 1).join('.')})`)
    .join(' && ');
  return {
    rule: `!(${present}) || self.${field} == ''`,
    message: `${what} can belong to one control plane only: remove it from the template`,
    fieldPath: `.${field}`,
  };
};

const routed = (field: 'ingress' | 'gateway'): CelRule => ({
  rule: `!has(self.controlPlane.${field})`,
  message: `a host name can belong to one control plane only, and ${field} needs one: remove it from the template`,
  fieldPath: `.controlPlane.${field}`,
});

/** Nodes have each port once. The range is the default of Kubernetes; outside of it, the API server chooses. */
const nodePort = (port: string, has: string): CelRule => ({
  rule: `self.controlPlane.service.serviceType != 'NodePort' || !(${has}) || self.${port} < 30000 || self.${port} > 32767`,
  message: 'a node port can belong to one control plane only: remove it, and the API server chooses one for each',
  fieldPath: `.${port}`,
});

const templateRules: readonly CelRule[] = [
  onlyForOne('networkProfile.address', 'an address'),
  onlyForOne('networkProfile.advertiseAddress', 'an address'),
  onlyForOne('dataStoreSchema', 'a tenancy'),
  onlyForOne('dataStoreUsername', 'a user in a datastore'),
  routed('ingress'),
  routed('gateway'),
  nodePort('networkProfile.port', 'true'),
  nodePort(
    'addons.konnectivity.server.port',
    'has(self.addons) && has(self.addons.konnectivity) && has(self.addons.konnectivity.server)',
  ),
  nodePort(
    'addons.workerBootstrap.talos.port',
    'has(self.addons) && has(self.addons.workerBootstrap) && has(self.addons.workerBootstrap.talos)',
  ),
  {
    rule: 'self.controlPlane.deployment.replicas > 0',
    message: 'a prepared control plane runs: set at least 1 replica',
    fieldPath: '.controlPlane.deployment.replicas',
  },
  {
    rule: '!has(self.sleep)',
    message: 'a prepared control plane does not sleep: remove it, and set it on the control plane after the claim',
    fieldPath: '.sleep',
  },
];

/** The keys of Steward decide what a control plane adopts, restores, and who it belongs to. */
const foreignKeys = (field: 'labels' | 'annotations'): CelRule => ({
  rule: `!has(self.${field}) || self.${field}.all(key, !key.matches('^([^/]+[.])?steward[.]butlerlabs[.]dev/'))`,
  message: `${field} of steward.butlerlabs.dev are set by Steward: remove them from the template`,
  fieldPath: `.${field}`,
});

/** As the API server requires of keys of labels and annotations: a control plane with another one would be refused. */
const usableKeys = (field: 'labels' | 'annotations'): CelRule => {
  const part = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
  const key = `^(${part}([.]${part})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`;
  return {
    rule: `!has(self.${field}) || self.${field}.all(key, key.size() <= 317 && key.matches('${key}'))`,
    message: `a key of ${field} is a name of at most 63 letters, digits, dashes, underscores and dots, optionally after a DNS name in lower case and a slash`,
    fieldPath: `.${field}`,
  };
};

const textMap = (value: Schema<string>): Schema<Readonly<Record<string, string>>> =>
  foreign({ ...map(value).openapi, maxProperties: 64 });

const labelValue = str({ maxLength: 63, pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$' });

/** What prepared control planes are created from. */
export const preparedTemplate = obj({
  metadata: opt(
    described(
      obj(
        {
          labels: opt(described(textMap(labelValue), 'Labels besides those of Steward.')),
          annotations: opt(described(textMap(str()), 'Annotations besides those of Steward.')),
        },
        ...[foreignKeys('labels'), foreignKeys('annotations')],
        ...[usableKeys('labels'), usableKeys('annotations')],
      ),
      'Labels and annotations of the TenantControlPlanes.',
    ),
  ),
  spec: described(
    ruled(withoutTransitions(tenantControlPlaneSpec), ...templateRules),
    'Spec of the TenantControlPlanes. Fields that only one of them could have, such as an address or a host name, are refused.',
  ),
});
export type PreparedTemplate = Infer<typeof preparedTemplate>;
