import type { Infer } from '../schema.ts';
import { described, int32, list, obj, oneOf, opt, str } from '../schema.ts';

const level = (what: string) => described(oneOf('privileged', 'baseline', 'restricted'), what);
const version = described(
  str({ pattern: '^(latest|v1\\.(0|[1-9][0-9]{0,3}))$' }),
  'Version of the standard: `latest`, the default, or a minor such as `v1.36`.',
);
const names = (what: string) => described(list(str({ minLength: 1 }), { maxItems: 128 }), what);

const podSecurity = obj({
  defaults: opt(
    described(
      obj({
        enforce: opt(level('Pods that violate this Pod Security Standard are refused. Defaults to privileged.')),
        enforceVersion: opt(version),
        audit: opt(level('Pods that violate this standard are marked in the audit log. Defaults to privileged.')),
        auditVersion: opt(version),
        warn: opt(level('Clients that create pods that violate this standard are warned. Defaults to privileged.')),
        warnVersion: opt(version),
      }),
      'What holds in namespaces without the labels `pod-security.kubernetes.io/…`.',
    ),
  ),
  exemptions: opt(
    described(
      obj({
        usernames: opt(names('Users whose pods are not checked.')),
        runtimeClasses: opt(names('RuntimeClasses whose pods are not checked.')),
        namespaces: opt(
          names('Namespaces whose pods are not checked. kube-system is always among them: the add-ons run there.'),
        ),
      }),
      'What is not checked.',
    ),
  ),
});

const eventRateLimit = obj({
  limits: described(
    list(
      obj({
        type: described(
          oneOf('Server', 'Namespace', 'User', 'SourceAndObject'),
          'Whose Events are counted together: all, or those of one namespace, user, or source and object.',
        ),
        qps: described(int32({ minimum: 1 }), 'Events per second in the long run.'),
        burst: described(int32({ minimum: 1 }), 'Events that may come at once.'),
        cacheSize: opt(
          described(
            int32({ minimum: 0, maximum: 1_000_000 }),
            'How many namespaces, users, or sources and objects are remembered. Defaults to 4096.',
          ),
        ),
      }),
      { minItems: 1, maxItems: 16 },
    ),
    'All of these limits apply. Events beyond them are refused.',
  ),
});

/** Configuration of admission plugins that are built into kube-apiserver. */
export const admission = obj({
  podSecurity: opt(described(podSecurity, 'Pod Security Standards, by the plugin PodSecurity.')),
  eventRateLimit: opt(
    described(eventRateLimit, 'Limits for Events, by the plugin EventRateLimit, which this field enables.'),
  ),
});
export type Admission = Infer<typeof admission>;
