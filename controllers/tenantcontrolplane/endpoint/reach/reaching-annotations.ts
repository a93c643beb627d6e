/** Annotations that are known to reach beyond the namespace of their object. */
export interface ReachingAnnotations {
  readonly keys: RegExp;
  /** Completes the sentence “<key> …”. */
  readonly reason: string;
}

const router = '(nginx\\.ingress\\.kubernetes\\.io|haproxy-ingress\\.github\\.io|ingress\\.kubernetes\\.io)';
const routerOf = (rest: string): RegExp => new RegExp(`^${router}/(${rest})$`);

/** Refused even if their prefix is allowed; the operator can allow only the whole key. */
export const reachingAnnotations: readonly ReachingAnnotations[] = [
  {
    keys: /[-/](code-)?snippets?$/,
    reason: 'adds text to the configuration of a router that serves all namespaces, and can read its Secrets',
  },
  {
    keys: /^haproxy-ingress\.github\.io\/config-/,
    reason: 'adds text to the configuration of a router that serves all namespaces',
  },
  {
    keys: routerOf(
      'auth-.*|cors-.*-secret|proxy-ssl-.*|secure-.*|custom-headers|proxy-set-headers|fastcgi-.*|opentelemetry-.*',
    ),
    reason: 'makes the router read Secrets or ConfigMaps of other namespaces, or call addresses that only it can reach',
  },
  {
    keys: /^haproxy\.org\/(auth-.*|client-.*|server-(ca|crt)|cr-backend|standalone-backend)$/,
    reason: 'makes the router read Secrets or settings of other namespaces',
  },
  {
    keys: /^nginx\.org\/(.*-secret|basic-auth.*|jwt-.*|policies|mergeable-.*)$/,
    reason: 'refers to objects that belong to others',
  },
  {
    keys: routerOf('canary.*|server-alias.*|mirror-.*|from-to-www-redirect|default-backend-redirect'),
    reason: 'captures requests for host names of others, or sends requests to them',
  },
  {
    keys: /^traefik\.ingress\.kubernetes\.io\/(router\.middlewares|service\.serverstransport.*)$/,
    reason: 'refers to objects of other namespaces',
  },
  {
    keys: /^(metallb\.universe\.tf|metallb\.io)\/allow-shared-ip$/,
    reason: 'shares the address of any Service of the cluster with the same key',
  },
  {
    keys: /^(lbipam\.cilium\.io|io\.cilium)\/(lb-ipam-)?sharing-cross-namespace$/,
    reason: 'shares the address of Services of other namespaces',
  },
  {
    keys: /[/-](load-?balancer|loadbalance|lb)-?id$|^load-balancer\.hetzner\.cloud\/(id|name)$/,
    reason: 'takes over an existing load balancer, whoever owns it',
  },
  {
    keys: /^alb\.ingress\.kubernetes\.io\/(group\..*|auth-.*|load-balancer-name|target-group-.*|actions\..*)$/,
    reason: 'joins the load balancer or uses Secrets of others',
  },
  {
    keys: /^service\.beta\.kubernetes\.io\/(aws-load-balancer-(eip-allocations|security-groups|extra-security-groups|name|access-log-s3-bucket-.*)|azure-(load-balancer-resource-group|load-balancer-ipv[46]|pip-.*|shared-securityrule|additional-public-ips))$/,
    reason: 'claims addresses, names or security groups of the whole cloud account',
  },
  {
    keys: /^networking\.gke\.io\/load-balancer-ip-addresses$/,
    reason: 'claims addresses of the whole cloud project',
  },
  {
    keys: /^(v1\.)?(k8s\.v1\.cni\.cncf\.io|multus-cni\.io)\//,
    reason: 'joins networks of other namespaces or of the node',
  },
  {
    keys: /^iam\.(amazonaws\.com|cloud\.google\.com)\//,
    reason: 'assumes a role of the whole cloud account',
  },
  {
    keys: /^external-dns\.alpha\.kubernetes\.io\/(controller|set-identifier)$/,
    reason: 'changes which records of a shared DNS zone the object controls',
  },
];
