import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { attestationOf, attested } from './attestation.ts';
import { provenanceOf } from './provenance.ts';
import type { BuildFacts } from './provenance.ts';

const facts: BuildFacts = {
  image: 'registry.example.com/team/steward',
  digest: `sha256:${'a'.repeat(64)}`,
  version: '0.17.0',
  architectures: ['amd64'],
  source: { commit: 'c0ffee', isChanged: false },
  lock: 'b'.repeat(64),
  environment: {},
};

describe('The provenance of a release', () => {
  test('names image, commit, lock file and the parameters of the release', () => {
    expect(provenanceOf(facts)).toMatchObject({
      subject: [{ name: facts.image, digest: { sha256: 'a'.repeat(64) } }],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          externalParameters: { version: '0.17.0', architectures: ['amd64'] },
          internalParameters: { sourceIsChanged: false },
          resolvedDependencies: [
            { uri: 'git+https://github.com/butlerdotdev/steward', digest: { gitCommit: 'c0ffee' } },
            { uri: 'package-lock.json', digest: { sha256: 'b'.repeat(64) } },
          ],
        },
      },
    });
  });

  test('names the workflow and its run on GitHub', () => {
    const environment = {
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'team/steward',
      GITHUB_WORKFLOW_REF: 'team/steward/.github/workflows/release.yaml@refs/tags/v0.17.0',
      GITHUB_RUN_ID: '7',
    };
    expect(provenanceOf({ ...facts, environment }).predicate).toMatchObject({
      runDetails: {
        builder: { id: 'https://github.com/team/steward/.github/workflows/release.yaml@refs/tags/v0.17.0' },
        metadata: { invocationId: 'https://github.com/team/steward/actions/runs/7/attempts/1' },
      },
    });
  });

  test('claims no commit where there is none', () => {
    const { predicate } = provenanceOf({ ...facts, source: { isChanged: true } });
    expect(JSON.stringify(predicate)).not.toContain('gitCommit');
  });
});

describe('An attestation', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const statement = provenanceOf(facts);
  const [, layer] = attestationOf(statement, privateKey).blobs;
  const envelope = Buffer.from(layer?.bytes ?? []);

  test('has the statement, for whoever has the public key', () => {
    expect(attested(envelope, publicKey)).toEqual(statement);
    expect(attested(envelope, generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)).toBeUndefined();
  });

  test('is no longer valid once its statement was changed', () => {
    const { payload, ...rest } = JSON.parse(envelope.toString()) as { payload: string };
    const changed = Buffer.from(payload, 'base64').toString().replace('c0ffee', 'c0ffef');
    const forged = JSON.stringify({ ...rest, payload: Buffer.from(changed).toString('base64') });
    expect(attested(Buffer.from(forged), publicKey)).toBeUndefined();
  });
});
