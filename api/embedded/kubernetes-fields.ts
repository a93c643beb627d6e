import { bool, described, int32, list, obj, opt, str } from '../schema.ts';
import { admission } from './admission.ts';
import { admissionControllerList } from './admission-controllers.ts';
import { audit } from './audit.ts';
import { authentication } from './authentication.ts';
import { authorization } from './authorization.ts';
import { encryption } from './encryption.ts';
import { kubelet } from './kubelet.ts';

const requestLimits = obj({
  inFlight: opt(described(int32({ minimum: 1 }), 'Read requests: sets `--max-requests-inflight`. Defaults to 400.')),
  mutatingInFlight: opt(
    described(int32({ minimum: 1 }), 'Write requests: sets `--max-mutating-requests-inflight`. Defaults to 200.'),
  ),
});

/** What kube-apiserver accepts as an issuer, without what needs escapes. */
const issuerUrl = str({
  pattern: '^https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$',
  maxLength: 512,
});

const serviceAccountIssuer = obj({
  url: described(issuerUrl, 'URL in new tokens, at which others find the discovery document.'),
  formerURLs: opt(
    described(
      list(issuerUrl, { maxItems: 4 }),
      'Issuers of earlier tokens that are still valid. Name the previous URL here when `url` changes. The issuers in the cluster domain always stay valid.',
    ),
  ),
  publicDiscovery: opt(
    described(
      bool(),
      'Lets everyone who reaches the API server read the discovery document and the public keys without authenticating.',
    ),
  ),
});

/** Settings of Kubernetes: `spec.kubernetes` and `spec`. */
export const kubernetesFields = {
  kubelet: opt(described(kubelet, 'Configuration of joining kubelets.')),
  admissionControllers: opt(admissionControllerList),
  eventTTL: opt(
    described(
      str({ pattern: '^[1-9][0-9]{0,4}[hms]$' }),
      'How long Events are stored, in hours, minutes or seconds, e.g. `2h` or `90m`. Defaults to one hour.',
    ),
  ),
  requestLimits: opt(described(requestLimits, 'How many requests one API server handles at the same time.')),
  serviceAccountIssuer: opt(described(serviceAccountIssuer, 'Issuer of service-account tokens.')),
  authentication: opt(
    described(authentication, 'Who may log in with tokens of OpenID Connect issuers. Needs Kubernetes 1.30 or later.'),
  ),
  authorization: opt(
    described(authorization, 'Who decides about requests besides Node and RBAC. Needs Kubernetes 1.30 or later.'),
  ),
  audit: opt(described(audit, 'Which requests are recorded, and where.')),
  admission: opt(described(admission, 'Configuration of admission plugins that are built into kube-apiserver.')),
  encryption: opt(described(encryption, 'Encryption of the data of chosen resources in the datastore.')),
} as const;
