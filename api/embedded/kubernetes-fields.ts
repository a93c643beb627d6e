import { bool, described, int32, obj, opt, str } from '../schema.ts';
import { admissionControllerList } from './admission-controllers.ts';
import { kubelet } from './kubelet.ts';

const requestLimits = obj({
  inFlight: opt(described(int32({ minimum: 1 }), 'Reads, by `--max-requests-inflight`. Defaults to 400.')),
  mutatingInFlight: opt(
    described(int32({ minimum: 1 }), 'Writes, by `--max-mutating-requests-inflight`. Defaults to 200.'),
  ),
});

const serviceAccountIssuer = obj({
  url: described(
    str({ pattern: '^https://[^?#\\s]+$', maxLength: 512 }),
    'URL in new tokens, at which others find the discovery document. Tokens with the previous issuer stay valid.',
  ),
  publicDiscovery: opt(
    described(
      bool(),
      'Lets everyone who reaches the API server read the discovery document and the public keys without a login.',
    ),
  ),
});

/** Settings of Kubernetes: `spec.kubernetes` and `spec`. */
export const kubernetesFields = {
  kubelet: opt(described(kubelet, 'Configuration of joining kubelets.')),
  admissionControllers: opt(admissionControllerList),
  eventTTL: opt(
    described(
      str({ pattern: '^([0-9]+h)?([0-9]+m)?([0-9]+s)?$', minLength: 2, maxLength: 32 }),
      'How long Events are stored, e.g. `2h` or `30m`. Defaults to one hour.',
    ),
  ),
  requestLimits: opt(described(requestLimits, 'How many requests one API server handles at the same time.')),
  serviceAccountIssuer: opt(described(serviceAccountIssuer, 'Issuer of service-account tokens.')),
} as const;
