/** Models of artificial intelligence. Source: tag `ai-model` of the reference's API. */
import { z } from 'zod'
import { entityId } from '../../model/entity-id.ts'
import type { AiChats } from '../../services/ai/ai-chats.ts'
import type { AiModels } from '../../services/ai/ai-models.ts'
import type { JsonObject } from '../../model/json.ts'
import { aiModels } from '../../services/entities/ai-model.ts'
import { found } from './authorize.ts'
import { jsonObject } from './body.ts'
import { draftSchema, type EntityRoutesParts } from './declared/entity-routes.ts'
import { paging } from './declared/query.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { pageShape, recordShape } from './declared/shapes.ts'
import { TENANT } from './route.ts'

export interface AiModelRoutesParts extends EntityRoutesParts {
  readonly aiModels: AiModels
  readonly ai: Pick<AiChats, 'askOnce'>
}

const SHAPE = recordShape(aiModels)
const MAX_CHARACTERS = 500_000

const chat = z.object({
  systemMessage: z.string().max(MAX_CHARACTERS).nullish(),
  userMessage: z.object({
    contents: z
      .array(z.object({ contentType: z.literal('TEXT'), text: z.string().min(1).max(MAX_CHARACTERS) }))
      .min(1)
      .max(100),
  }),
  chatModelConfig: jsonObject,
})
const CHAT_ANSWER: JsonObject = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['SUCCESS', 'FAILURE'] },
    generatedContent: { type: 'string' },
    errorDetails: { type: 'string' },
  },
  required: ['status'],
}

export function aiModelRoutes(parts: AiModelRoutesParts): readonly DeclaredRoute[] {
  const { make, declared } = parts
  const service = declared.of(aiModels)
  return [
    make.route({
      method: 'GET',
      path: '/api/ai/model',
      about: 'The AI models of the tenant; their keys are masked.',
      authorities: TENANT,
      targets: {},
      query: { page: paging },
      body: undefined,
      answer: pageShape(SHAPE),
      handle: async ({ principal, query }) => {
        const page = await parts.aiModels.page(principal, query.page)
        return { ...page, data: page.data.map((model) => aiModels.jsonOf(model)) }
      },
    }),
    make.route({
      method: 'POST',
      path: '/api/ai/model',
      about:
        'Makes an AI model, or replaces the one that the body names. A key that is sent back masked stays as it is.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: draftSchema(aiModels),
      example: (ids) => ({
        ...aiModels.example(ids),
        id: { entityType: 'AI_MODEL', id: ids['modelUuid'] ?? '' },
      }),
      creates: ({ id }) => (id === undefined ? 'AI_MODEL' : undefined),
      bodyTargets: ({ id }) =>
        id === undefined ? [] : [{ entity: entityId('AI_MODEL', id), operation: 'WRITE' as const }],
      answer: SHAPE,
      handle: async ({ principal, body }) => aiModels.jsonOf(await parts.aiModels.saveByUser(principal, body)),
    }),
    make.route({
      method: 'POST',
      path: '/api/ai/model/chat',
      about: 'Asks a model that need not be saved, to see whether it answers.',
      authorities: TENANT,
      targets: {},
      query: {},
      body: chat,
      example: () => ({
        userMessage: { contents: [{ contentType: 'TEXT', text: 'What is the capital of Ukraine?' }] },
        chatModelConfig: {
          provider: 'OLLAMA',
          providerConfig: { baseUrl: 'http://127.0.0.1:11434', auth: { type: 'NONE' } },
          modelId: 'llama3.2',
        },
      }),
      answer: CHAT_ANSWER,
      handle: async ({ principal, body: { systemMessage, userMessage, chatModelConfig } }) => {
        const user = userMessage.contents.map(({ text }) => text).join('\n')
        const system = systemMessage ?? undefined
        const question = { ...(system === undefined ? {} : { system }), user, format: { type: 'TEXT' } } as const
        return parts.ai.askOnce(service.tenantOf(principal), chatModelConfig, question)
      },
    }),
    make.route({
      method: 'GET',
      path: '/api/ai/model/{modelUuid}',
      about: 'One AI model; its keys are masked.',
      authorities: TENANT,
      targets: { modelUuid: { entity: aiModels, operation: 'READ' } },
      query: {},
      body: undefined,
      answer: SHAPE,
      handle: async ({ path }) =>
        aiModels.jsonOf(found(await service.findAnywhere(path.modelUuid), aiModels.label, path.modelUuid)),
    }),
    make.route({
      method: 'DELETE',
      path: '/api/ai/model/{modelUuid}',
      about: 'Deletes an AI model. Nodes that ask it fail from then on.',
      authorities: TENANT,
      targets: { modelUuid: { entity: aiModels, operation: 'DELETE' } },
      query: {},
      body: undefined,
      answer: { type: 'boolean' },
      handle: async ({ principal, path }) => {
        await service.deleteByUser(principal, path.modelUuid)
        return true
      },
    }),
  ]
}
