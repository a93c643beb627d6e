import type { FuzzTarget } from './fuzz-target.ts';
import { admissionReview } from './targets/admission-review.ts';
import { apiStatus } from './targets/api-status.ts';
import { backupFiles } from './targets/backup-files.ts';
import { certificateRequest } from './targets/certificate-request.ts';
import { certificates } from './targets/certificates.ts';
import { endpoint } from './targets/endpoint.ts';
import { jsonPatch } from './targets/json-patch.ts';
import { kineEntry } from './targets/kine-entry.ts';
import { kineKeys } from './targets/kine-keys.ts';
import { kineNames } from './targets/kine-names.ts';
import { kubeconfig } from './targets/kubeconfig.ts';
import { listPage } from './targets/list-page.ts';
import { names } from './targets/names.ts';
import { natsClaims } from './targets/nats-claims.ts';
import { networks } from './targets/networks.ts';
import { privateKey } from './targets/private-key.ts';
import { registryAnswers } from './targets/registry-answers.ts';
import { releaseArchive } from './targets/release-archive.ts';
import { releaseDocuments } from './targets/release-documents.ts';
import { requestTarget } from './targets/request-target.ts';
import { storeRecords } from './targets/store-records.ts';
import { tenantAnswers } from './targets/tenant-answers.ts';
import { versionFacts } from './targets/version-facts.ts';
import { watch } from './targets/watch.ts';

/** Every parser of bytes that somebody outside the manager's trust can choose. */
export const targets: readonly FuzzTarget[] = [
  admissionReview,
  apiStatus,
  backupFiles,
  certificateRequest,
  certificates,
  endpoint,
  jsonPatch,
  kineEntry,
  kineKeys,
  kineNames,
  kubeconfig,
  listPage,
  names,
  natsClaims,
  networks,
  privateKey,
  registryAnswers,
  releaseArchive,
  releaseDocuments,
  requestTarget,
  storeRecords,
  tenantAnswers,
  versionFacts,
  watch,
];
