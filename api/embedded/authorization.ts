import type { Infer } from '../schema.ts';
import { described, int32, list, obj, oneOf, opt, str } from '../schema.ts';
import { webhookConnectionFields } from './webhook-connection.ts';

const duration = str({ pattern: '^[1-9][0-9]{0,4}[hms]$' });

const webhook = obj({
  name: described(
    str({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', maxLength: 253 }),
    'Name in metrics and audit annotations. `node` and `rbac` are taken.',
  ),
  ...webhookConnectionFields,
  position: opt(
    described(
      oneOf('AfterRBAC', 'BeforeRBAC'),
      'AfterRBAC: the webhook can allow what RBAC does not. BeforeRBAC: it can also deny what RBAC would allow. Defaults to AfterRBAC.',
    ),
  ),
  failurePolicy: opt(
    described(
      oneOf('NoOpinion', 'Deny'),
      'What applies when the webhook does not answer. NoOpinion leaves the decision to the next authorizer. Defaults to NoOpinion.',
    ),
  ),
  timeoutSeconds: opt(described(int32({ minimum: 1, maximum: 30 }), 'Seconds to wait for an answer. Defaults to 3.')),
  authorizedTTL: opt(described(duration, 'How long an answer that allows a request is cached. Defaults to `5m`.')),
  unauthorizedTTL: opt(described(duration, 'How long any other answer is cached. Defaults to `30s`.')),
  matchConditions: opt(
    described(
      list(
        obj({
          expression: described(
            str({ minLength: 1, maxLength: 16_384 }),
            'Expression in the Common Expression Language (CEL) over `request`, a SubjectAccessReviewSpec. kube-apiserver compiles it when it starts.',
          ),
        }),
        { maxItems: 60 },
      ),
      'The webhook is asked only about requests for which all of these are true. Steward adds conditions that exclude requests of Kubernetes components.',
    ),
  ),
});

/** Who decides about requests besides Node and RBAC. */
export const authorization = obj({
  webhooks: described(
    list(webhook, { minItems: 1, maxItems: 8 }),
    'Webhooks that authorize requests, in this order. Node and RBAC are always in force.',
  ),
});
export type Authorization = Infer<typeof authorization>;
export type AuthorizationWebhook = Authorization['webhooks'][number];
