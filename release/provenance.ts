import type { Statement } from './attestation.ts';

/** What a release was built from and by whom. */
export interface BuildFacts {
  /** Repository of the image, without a tag. */
  readonly image: string;
  /** `sha256:<hex>`. */
  readonly digest: string;
  readonly version: string;
  readonly architectures: readonly string[];
  readonly source: Source;
  /** SHA-256 of package-lock.json, hexadecimal. */
  readonly lock: string;
  readonly environment: Environment;
}

/** The checked-out source. */
export interface Source {
  /** Absent outside of a Git repository. */
  readonly commit?: string | undefined;
  /** True if something differs from the commit. */
  readonly isChanged: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const repository = 'https://github.com/butlerdotdev/steward';

/** How a release was built, as SLSA has it (Provenance v1). Without a time, so that equal builds say the same. */
export function provenanceOf(facts: BuildFacts): Statement {
  const { image, digest, version, architectures, source, lock, environment } = facts;
  const { builder, invocation, from } = whereOf(environment);
  const commit = source.commit === undefined ? [] : [{ uri: `git+${from}`, digest: { gitCommit: source.commit } }];
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: image, digest: { sha256: digest.replace('sha256:', '') } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/main/docs/how-to/publish-a-release.md`,
        externalParameters: { version, architectures },
        internalParameters: { sourceIsChanged: source.isChanged },
        resolvedDependencies: [...commit, { uri: 'package-lock.json', digest: { sha256: lock } }],
      },
      runDetails: {
        builder: { id: builder },
        ...(invocation !== undefined && { metadata: { invocationId: invocation } }),
      },
    },
  };
}

/** On GitHub, the workflow and its run. Elsewhere nobody vouches for the machine, and that is what is said. */
function whereOf({
  GITHUB_SERVER_URL: server,
  GITHUB_REPOSITORY: name,
  GITHUB_WORKFLOW_REF: workflow,
  GITHUB_RUN_ID: run,
  GITHUB_RUN_ATTEMPT: attempt = '1',
}: Environment): { readonly builder: string; readonly invocation?: string; readonly from: string } {
  if (server === undefined || name === undefined || workflow === undefined || run === undefined)
    return { builder: `${repository}/blob/main/release/main.ts`, from: repository };
  const from = `${server}/${name}`;
  return { builder: `${server}/${workflow}`, invocation: `${from}/actions/runs/${run}/attempts/${attempt}`, from };
}
