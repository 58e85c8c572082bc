/** Integrations: where telemetry is collected from, and the script that says whose it is. */
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import { INTEGRATION_TYPES, kindOf } from '../integrations/catalogue.ts'
import { filledConfiguration, maskedConfiguration } from '../integrations/configuration.ts'
import { converterOf } from '../integrations/converter-configuration.ts'
import { IntegrationErrors } from '../integrations/errors.ts'
import { randomText } from '../users/secrets.ts'
import { choice, flag, internal, json, name, optionalText } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

const MAX_OF_TENANT = 200
/** 238 bits. */
const KEY_LENGTH = 40

export const integrations = defineEntity({
  type: 'INTEGRATION',
  label: 'Integration',
  name: 'name',
  table: { name: 'integration', version: 1, indexes: [{ members: ['type'] }] },
  columns: {
    name: name(),
    type: choice(INTEGRATION_TYPES, 'HTTP', { search: true }),
    enabled: flag(true),
    /** Whether a device that the converter names is made where there is none. */
    allowCreateDevices: flag(true),
    /** Language, form of the payload and script: `converter-configuration.ts`. */
    converter: json(),
    /** Its secrets are sealed, as `services/integrations/integrations.ts` hands them in. */
    configuration: json(),
    /** Of the webhook's path: who knows it may send. In no JSON, so that no message and no audit row has it. */
    routingKey: internal(optionalText()),
    additionalInfo: json(),
  },
  unique: [
    { members: ['name'], otherwise: () => IntegrationErrors.NAME_TAKEN() },
    {
      ...{ members: ['routingKey'], isSystemWide: true, isMadeUnlike: true },
      otherwise: () => IntegrationErrors.KEY_TAKEN(),
    },
  ],
  lacks: ['externalId'],
  example: () => ({
    name: 'Weather station',
    type: 'HTTP',
    converter: {
      language: 'TBEL',
      payloadFormat: 'JSON',
      script: 'return {deviceName: payload.station, telemetry: {temperature: payload.t}};',
    },
    configuration: kindOf('HTTP').example,
  }),
  permissions: { TENANT_ADMIN: 'all' },
  isHiddenFromOthers: true,
  moreJson: ({ type, configuration }): JsonObject => ({ configuration: maskedConfiguration(type, configuration) }),
  tells: ({ id, tenantId }) => ({
    kind: 'integration-changed',
    entity: { entityType: 'INTEGRATION', id },
    tenantId,
  }),
  async prepare(record, { before, siblings }) {
    if (before === undefined && (await siblings.count(record.tenantId, {})) >= MAX_OF_TENANT)
      throw IntegrationErrors.TOO_MANY({ limit: MAX_OF_TENANT })
    const { type } = record
    const converter = { ...converterOf(record.converter) }
    const sent = isJsonObject(record.configuration) ? record.configuration : {}
    const configuration = filledConfiguration({ type, configuration: sent }, before)
    return { record: { ...record, converter, configuration, routingKey: before?.routingKey ?? randomText(KEY_LENGTH) } }
  },
})

export type Integration = RecordOf<typeof integrations.columns>
