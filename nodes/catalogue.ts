/** Every rule node there is. To add one: its file, its test, a line here. */
import type { NodeCatalogue } from '../engine/rulechain/node.ts'
import type { RuleNodeDefinition } from './define-node.ts'
import { calculatedFields } from './action/calculated-fields.ts'
import { assignToCustomer } from './action/assign-to-customer.ts'
import { clearAlarm } from './action/clear-alarm.ts'
import { createAlarm } from './action/create-alarm.ts'
import { copyToView } from './action/copy-to-view.ts'
import { createRelation } from './action/create-relation.ts'
import { deleteAttributes } from './action/delete-attributes.ts'
import { deleteRelation } from './action/delete-relation.ts'
import { deviceState } from './action/device-state.ts'
import { unassignFromCustomer } from './action/unassign-from-customer.ts'
import { mathFunction } from './action/math-function.ts'
import { pushToCloud, pushToEdge } from './action/push-to-edge.ts'
import { delay } from './action/delay.ts'
import { generator } from './action/generator.ts'
import { gpsGeofencingEvents } from './action/gps-geofencing-events.ts'
import { log } from './action/log.ts'
import { messageCount } from './action/message-count.ts'
import { restCallReply } from './action/rest-call-reply.ts'
import { rpcCallReply } from './action/rpc-call-reply.ts'
import { rpcCallRequest } from './action/rpc-call-request.ts'
import { saveAttributes } from './action/save-attributes.ts'
import { saveTimeSeries } from './action/save-time-series.ts'
import { saveToCustomTable } from './action/save-to-custom-table.ts'
import { synchronizationEnd, synchronizationStart } from './action/synchronization.ts'
import { aiRequest } from './external/ai-request.ts'
import { awsLambda } from './external/aws-lambda.ts'
import { awsSns } from './external/aws-sns.ts'
import { awsSqs } from './external/aws-sqs.ts'
import { azureIotHub } from './external/azure-iot-hub.ts'
import { gcpPubSub } from './external/gcp-pubsub.ts'
import { kafka } from './external/kafka.ts'
import { mqtt } from './external/mqtt.ts'
import { rabbitMq } from './external/rabbitmq.ts'
import { restApiCall } from './external/rest-api-call.ts'
import { customerAttributes } from './enrichment/customer-attributes.ts'
import { customerDetails } from './enrichment/customer-details.ts'
import { deviceCredentials } from './enrichment/device-credentials.ts'
import { originatorAttributes } from './enrichment/originator-attributes.ts'
import { originatorFields } from './enrichment/originator-fields.ts'
import { originatorTelemetry } from './enrichment/originator-telemetry.ts'
import { relatedDeviceAttributes } from './enrichment/related-device-attributes.ts'
import { relatedEntityData } from './enrichment/related-entity-data.ts'
import { tenantAttributes } from './enrichment/tenant-attributes.ts'
import { tenantDetails } from './enrichment/tenant-details.ts'
import { alarmStatusFilter } from './filter/alarm-status-filter.ts'
import { calculateDelta } from './enrichment/calculate-delta.ts'
import { sendEmail } from './external/send-email.ts'
import { sendNotification } from './external/send-notification.ts'
import { sendSms } from './external/send-sms.ts'
import { sendToSlack } from './external/send-to-slack.ts'
import { checkFieldsPresence } from './filter/check-fields-presence.ts'
import { checkRelationPresence } from './filter/check-relation-presence.ts'
import { entityTypeFilter } from './filter/entity-type-filter.ts'
import { entityTypeSwitch } from './filter/entity-type-switch.ts'
import { gpsGeofencingFilter } from './filter/gps-geofencing-filter.ts'
import { messageTypeFilter } from './filter/message-type-filter.ts'
import { messageTypeSwitch } from './filter/message-type-switch.ts'
import { assetProfileSwitch, deviceProfileSwitch } from './filter/profile-switch.ts'
import { scriptFilter } from './filter/script-filter.ts'
import { scriptSwitch } from './filter/script-switch.ts'
import { acknowledge } from './flow/acknowledge.ts'
import { checkpoint } from './flow/checkpoint.ts'
import { ruleChainInput } from './flow/rule-chain-input.ts'
import { ruleChainOutput } from './flow/rule-chain-output.ts'
import { deviceProfile } from './profile/device-profile.ts'
import { changeOriginator } from './transform/change-originator.ts'
import { deduplication } from './transform/deduplication.ts'
import { copyKeys } from './transform/copy-keys.ts'
import { deleteKeys } from './transform/delete-keys.ts'
import { jsonPath } from './transform/json-path.ts'
import { renameKeys } from './transform/rename-keys.ts'
import { scriptTransformation } from './transform/script-transformation.ts'
import { splitArray } from './transform/split-array.ts'
import { aggregateLatest } from './analytics/aggregate-latest.ts'
import { alarmCounts } from './analytics/alarm-counts.ts'
import { deviationAnomaly } from './analytics/deviation-anomaly.ts'
import { groupStatistics } from './analytics/group-statistics.ts'
import { sessionWindow } from './analytics/session-window.ts'
import { slidingWindow } from './analytics/sliding-window.ts'
import { topEntities } from './analytics/top-entities.ts'
import { tumblingWindow } from './analytics/tumbling-window.ts'
import { toEmail } from './transform/to-email.ts'

export const ruleNodes: readonly RuleNodeDefinition[] = [
  alarmStatusFilter,
  assetProfileSwitch,
  checkFieldsPresence,
  checkRelationPresence,
  deviceProfileSwitch,
  entityTypeFilter,
  entityTypeSwitch,
  gpsGeofencingFilter,
  messageTypeFilter,
  messageTypeSwitch,
  scriptFilter,
  scriptSwitch,
  customerAttributes,
  customerDetails,
  deviceCredentials,
  originatorAttributes,
  originatorFields,
  originatorTelemetry,
  relatedDeviceAttributes,
  relatedEntityData,
  tenantAttributes,
  tenantDetails,
  changeOriginator,
  calculateDelta,
  copyKeys,
  deduplication,
  deleteKeys,
  jsonPath,
  renameKeys,
  scriptTransformation,
  splitArray,
  toEmail,
  assignToCustomer,
  unassignFromCustomer,
  calculatedFields,
  createAlarm,
  clearAlarm,
  copyToView,
  createRelation,
  deleteRelation,
  deleteAttributes,
  deviceProfile,
  deviceState,
  delay,
  generator,
  gpsGeofencingEvents,
  log,
  messageCount,
  mathFunction,
  pushToCloud,
  pushToEdge,
  restCallReply,
  rpcCallReply,
  rpcCallRequest,
  saveAttributes,
  saveTimeSeries,
  saveToCustomTable,
  synchronizationEnd,
  synchronizationStart,
  aiRequest,
  awsLambda,
  awsSns,
  awsSqs,
  azureIotHub,
  gcpPubSub,
  kafka,
  mqtt,
  rabbitMq,
  restApiCall,
  sendEmail,
  sendNotification,
  sendSms,
  sendToSlack,
  acknowledge,
  checkpoint,
  ruleChainInput,
  ruleChainOutput,
  aggregateLatest,
  alarmCounts,
  deviationAnomaly,
  groupStatistics,
  sessionWindow,
  slidingWindow,
  topEntities,
  tumblingWindow,
]

const byType = new Map(ruleNodes.map((definition) => [definition.type, definition]))

export const catalogue: NodeCatalogue = {
  find: (type) => byType.get(type),
  all: () => ruleNodes,
}
