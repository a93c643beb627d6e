import type { Infer } from '../schema.ts';
import { bool, described, int32, list, obj, oneOf, opt, str } from '../schema.ts';
import { webhookConnectionFields } from './webhook-connection.ts';

const texts = (what: string) => described(list(str({ minLength: 1 }), { maxItems: 128 }), what);
const omitStages = described(
  list(oneOf('RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'), { maxItems: 4 }),
  'Stages of a request that are not recorded.',
);

const resources = obj({
  group: opt(described(str(), 'API group; empty for the core group, `*` for all.')),
  resources: opt(texts('Resources, such as `pods`, `pods/log` or `*`. All of the group by default.')),
  resourceNames: opt(texts('Names of objects. Needs `resources`.')),
});

const rule = obj({
  level: described(
    oneOf('None', 'Metadata', 'Request', 'RequestResponse'),
    'How much is recorded. Metadata leaves out bodies.',
  ),
  users: opt(texts('Names of the users that the rule is about. All by default.')),
  userGroups: opt(texts('Groups of users that the rule is about. All by default.')),
  verbs: opt(texts('Verbs that the rule is about, such as `get`. All by default.')),
  resources: opt(described(list(resources, { maxItems: 64 }), 'Resources that the rule is about. All by default.')),
  namespaces: opt(
    described(
      list(str(), { maxItems: 128 }),
      'Namespaces; an empty string stands for cluster-wide objects. All by default.',
    ),
  ),
  nonResourceURLs: opt(texts('Paths that are not resources, such as `/metrics` or `/healthz*`.')),
  omitStages: opt(omitStages),
  omitManagedFields: opt(
    described(bool(), 'Leaves managedFields out of bodies. Takes precedence over omitManagedFields of the policy.'),
  ),
});

const policy = obj({
  rules: described(list(rule, { minItems: 1, maxItems: 256 }), 'The first rule that matches a request decides.'),
  omitStages: opt(omitStages),
  omitManagedFields: opt(described(bool(), 'Leaves managedFields out of bodies.')),
});

const webhook = obj({
  ...webhookConnectionFields,
  batchMaxSize: opt(
    described(int32({ minimum: 1, maximum: 10_000 }), 'Maximum number of events in one request. Defaults to 400.'),
  ),
  batchMaxWaitSeconds: opt(
    described(int32({ minimum: 1, maximum: 3600 }), 'Longest time before events are sent, in seconds. Defaults to 30.'),
  ),
});

/** Which requests are recorded, and where. */
export const audit = obj({
  policy: described(policy, 'Which requests are recorded, as in the audit Policy of kube-apiserver.'),
  log: opt(
    described(
      bool(),
      'Writes every event as a line of JSON to the standard output of the container kube-apiserver, where log collectors find it.',
    ),
  ),
  webhook: opt(
    described(
      webhook,
      'Sends the events to an HTTPS server in batches, as `EventList` of audit.k8s.io/v1. Requests never wait for it; events that it does not take in time are lost.',
    ),
  ),
});
export type Audit = Infer<typeof audit>;
