import type { Condition } from '../../api/meta.ts';
import type { StackCondition } from './stack-condition.ts';

/** Reasons that need action by a user. All others report work in progress. */
const errors: ReadonlySet<string> = new Set([
  'FailedToSync',
  'FailedCreateAssetsClient',
  'CredentialsMissing',
  'NoSource',
  'IssueWithReleaseAssets',
  'ProviderTemplateNotFound',
  'FailedToCreateOrUpdate',
  'TemplateFailed',
  'TemplateNewClusterStackFailed',
  'TemplateNewClusterStackOverwriteFailed',
  'ParsingClusterAddonConfigFailed',
  'HelmChartMissing',
  'StageTimedOut',
  'FailedToApplyObjects',
  'FailedToDeleteObjects',
  'Failed',
  'InvalidSpec',
]);

/** Adds the severity that Cluster API v1beta1 conditions have while they are False. */
export function withSeverity(conditions: readonly Condition[]): readonly StackCondition[] {
  return conditions.map((condition) => {
    const rest: { -readonly [K in keyof StackCondition]: StackCondition[K] } = { ...condition };
    delete rest.severity;
    return condition.status === 'False' ? { ...rest, severity: severityOf(condition.reason) } : rest;
  });
}

const severityOf = (reason: string): string => (errors.has(reason) ? 'Error' : 'Info');
