/**
 * Where this server does otherwise than the recorded cases of rule nodes, path by path, and what is not built yet. The replay fails for a
 * difference that is not listed, and for a listed one that is none any more.
 */
import type { DeliberateDifference } from './golden-answers.ts'

/** Of all cases: those that may differ on purpose. */
export const MAX_SHARE = 0.03

/** Case to what this server does at paths of its expectation, such as `steps.0.T.1.relation`. */
export const NODE_DIFFERENCES: Readonly<Record<string, DeliberateDifference>> = {}

/** What is not built, to the cases that need it. The list only gets shorter: who builds it takes its lines out. */
const WANTING: Readonly<Record<string, readonly string[]>> = {
  CalculateDeltaNode: [
    'enrich-delta-blank-key',
    'enrich-delta-database-string',
    'enrich-delta-fractions',
    'enrich-delta-from-database',
    'enrich-delta-other',
    'enrich-delta-period',
    'enrich-delta-sequence',
    'enrich-delta-text-value',
  ],
  'TBEL whole': ['tbel-date-format', 'tbel-date-setters'],
  TbAssetTypeSwitchNode: ['filter-asset-profile-switch', 'filter-asset-profile-switch-on-device'],
  TbCalculatedFieldsNode: ['action-calculated-fields-no-field', 'action-calculated-fields-script'],
  TbChangeOriginatorNode: [
    'flow-save-on-changed-originator',
    'transform-originator-alarm-originator-of-device',
    'transform-originator-back-and-forth',
    'transform-originator-by-name',
    'transform-originator-by-name-metadata',
    'transform-originator-customer',
    'transform-originator-related',
    'transform-originator-related-none',
    'transform-originator-tenant',
  ],
  'TbChangeOriginatorNode, TbAssignToCustomerNode': ['action-assign-customer-wrong-entity'],
  'TbChangeOriginatorNode, TbGetAttributesNode': ['flow-originator-change-carries-on'],
  'TbChangeOriginatorNode, TbGetCustomerAttributeNode': ['enrich-customer-attributes-from-customer'],
  'TbChangeOriginatorNode, TbGetOriginatorFieldsNode': ['enrich-originator-fields-customer'],
  'TbChangeOriginatorNode, TbGetTenantAttributeNode': ['enrich-tenant-attributes', 'enrich-tenant-attributes-to-data'],
  'TbChangeOriginatorNode, TbOriginatorTypeFilterNode': ['filter-entity-type-other'],
  'TbChangeOriginatorNode, TbOriginatorTypeSwitchNode': [
    'filter-entity-type-switch-customer',
    'filter-entity-type-switch-tenant',
    'filter-entity-type-switch-view',
  ],
  'TbChangeOriginatorNode, TbUnassignFromCustomerNode': ['action-unassign-customer-dashboard'],
  TbCheckAlarmStatusNode: [
    'filter-alarm-status-acknowledged',
    'filter-alarm-status-active',
    'filter-alarm-status-empty-list',
    'filter-alarm-status-unknown-alarm',
  ],
  TbCheckRelationNode: [
    'filter-check-relation-any-from',
    'filter-check-relation-any-none',
    'filter-check-relation-appears-later',
    'filter-check-relation-no-entity',
    'filter-check-relation-one-to',
    'filter-check-relation-one-wrong-direction',
  ],
  TbCopyKeysNode: ['transform-copy-bad-config'],
  TbDeviceProfileNode: [
    'action-device-profile-clear',
    'action-device-profile-clear-not-met',
    'action-device-profile-duration',
    'action-device-profile-no-rules',
    'action-device-profile-repeating',
    'action-device-profile-repeating-interrupted',
    'action-device-profile-simple',
    'action-device-profile-string-boolean',
    'action-device-profile-updated',
  ],
  TbDeviceTypeSwitchNode: ['filter-device-profile-switch-linked', 'filter-device-profile-switch-on-asset'],
  TbFetchDeviceCredentialsNode: [
    'enrich-credentials-data-array',
    'enrich-credentials-metadata',
    'enrich-credentials-on-asset',
  ],
  TbGetAttributesNode: [
    'enrich-originator-attributes-absent-fails',
    'enrich-originator-attributes-all-scopes',
    'enrich-originator-attributes-data-not-object',
    'enrich-originator-attributes-latest-types',
    'enrich-originator-attributes-latest-with-ts',
    'enrich-originator-attributes-nothing-asked',
    'enrich-originator-attributes-patterns',
    'enrich-originator-attributes-server-to-data',
  ],
  TbGetCustomerAttributeNode: [
    'enrich-customer-attributes',
    'enrich-customer-attributes-pattern',
    'enrich-customer-attributes-unassigned',
  ],
  TbGetCustomerDetailsNode: [
    'enrich-customer-details-data',
    'enrich-customer-details-empty-list',
    'enrich-customer-details-missing-values',
    'enrich-customer-details-unassigned',
  ],
  TbGetDeviceAttrNode: [
    'enrich-related-device-absent',
    'enrich-related-device-attributes',
    'enrich-related-device-other-profile',
    'enrich-related-device-to-data',
  ],
  TbGetOriginatorFieldsNode: [
    'enrich-originator-fields-asset',
    'enrich-originator-fields-device',
    'enrich-originator-fields-empty-mapping',
    'enrich-originator-fields-null-kept',
    'enrich-originator-fields-target-pattern',
    'enrich-originator-fields-unknown-field',
  ],
  TbGetRelatedAttributeNode: [
    'enrich-related-attributes-to-data',
    'enrich-related-fields',
    'enrich-related-negated-filter',
    'enrich-related-source-pattern',
    'enrich-related-telemetry',
    'enrich-related-wrong-entity-type',
  ],
  TbGetTelemetryNode: [
    'enrich-originator-telemetry-agg-avg',
    'enrich-originator-telemetry-agg-max',
    'enrich-originator-telemetry-agg-min',
    'enrich-originator-telemetry-all',
    'enrich-originator-telemetry-all-desc-limit',
    'enrich-originator-telemetry-data-pattern',
    'enrich-originator-telemetry-empty-span',
    'enrich-originator-telemetry-last',
    'enrich-originator-telemetry-limit-too-small',
    'enrich-originator-telemetry-relative',
  ],
  TbGetTenantAttributeNode: ['enrich-tenant-attributes-no-mapping'],
  TbGetTenantDetailsNode: ['enrich-tenant-details-id', 'enrich-tenant-details-id-data'],
  TbGpsGeofencingActionNode: [
    'action-geofencing-bad-input',
    'action-geofencing-each-message',
    'action-geofencing-first-message-strategy',
    'action-geofencing-outside-duration',
  ],
  TbMathNode: [
    'action-math-attribute-absent',
    'action-math-attribute-and-series',
    'action-math-custom',
    'action-math-custom-functions',
    'action-math-div',
    'action-math-floor-div',
    'action-math-metadata-constant',
    'action-math-pow',
    'action-math-result-to-series',
    'action-math-sqrt',
    'action-math-wrong-argument-count',
  ],
  TbMsgCountNode: ['action-message-count', 'action-message-count-by-type'],
  TbMsgDeduplicationNode: [
    'transform-deduplication-all',
    'transform-deduplication-first',
    'transform-deduplication-too-many',
  ],
  TbMsgDelayNode: ['action-delay-fixed', 'action-delay-pattern'],
  TbMsgGeneratorNode: ['action-generator-failing-script', 'action-generator-js', 'action-generator-tenant'],
  TbMsgToEmailNode: [
    'pattern-all-metadata-and-data',
    'pattern-data-nested',
    'pattern-metadata-and-data',
    'pattern-same-twice',
    'pattern-unclosed',
    'pattern-value-with-pattern-characters',
    'transform-email-dynamic-html',
    'transform-email-html-cc-bcc',
    'transform-email-missing-values',
    'transform-email-nested-pattern',
  ],
  TbRenameKeysNode: ['transform-rename-empty-mapping'],
  'the outcome of a call behind its node': [
    'action-rpc-request-missing-parts',
    'action-rpc-request-no-session',
    'action-rpc-request-oneway',
    'action-rpc-server-to-device-through-chain',
  ],
  'results of script transformations': ['transform-script-js-wrong-return', 'transform-script-tbel-error'],
}

/** Case to what it needs. */
export const NOT_BUILT: ReadonlyMap<string, string> = new Map(
  Object.entries(WANTING).flatMap(([what, cases]) => cases.map((name): [string, string] => [name, what])),
)
