/** Models of artificial intelligence that a tenant may ask: where they are, and the keys to them. Source: schema `AiModel` of the reference's API. */
import { isJsonObject } from '../../model/json.ts'
import { aiConfigurationOf, aiJsonOf, filledAi, maskedAi } from '../ai/configuration.ts'
import { AiErrors } from '../ai/errors.ts'
import { internal, json, name, optionalText } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

const MAX_OF_TENANT = 1000

export const aiModels = defineEntity({
  type: 'AI_MODEL',
  label: 'AI model',
  name: 'name',
  table: { name: 'ai_model', version: 1 },
  columns: {
    name: name(),
    /** Its secrets are sealed, as `services/ai/ai-models.ts` hands them in. */
    configuration: {
      ...json(),
      toJson: (configuration) => (isJsonObject(configuration) ? maskedAi(configuration) : null),
    },
    /** Lists are searched and sorted by them. */
    provider: { ...internal(optionalText()), isSorted: true },
    modelId: { ...internal(optionalText()), isSorted: true },
  },
  unique: [{ members: ['name'], otherwise: () => AiErrors.NAME_TAKEN() }],
  lacks: ['externalId'],
  example: () => ({
    name: 'Local model',
    configuration: {
      provider: 'OLLAMA',
      providerConfig: { baseUrl: 'http://ollama.example:11434', auth: { type: 'NONE' } },
      modelId: 'llama3.2',
      temperature: 0.7,
    },
  }),
  permissions: { TENANT_ADMIN: 'all' },
  async prepare(record, { before, siblings }) {
    if (before === undefined && (await siblings.count(record.tenantId, {})) >= MAX_OF_TENANT)
      throw AiErrors.TOO_MANY({ limit: MAX_OF_TENANT })
    const sent = isJsonObject(record.configuration) ? record.configuration : null
    const { provider, modelId } = aiConfigurationOf(sent)
    const stored = before?.configuration
    const configuration = filledAi(aiJsonOf(sent), isJsonObject(stored) ? stored : undefined)
    return { record: { ...record, configuration, provider, modelId } }
  },
})

export type AiModel = RecordOf<typeof aiModels.columns>
