/** Asks a model of artificial intelligence and goes on with its answer (`rule-nodes.md` 60). */
import { z } from 'zod'
import { isUuid } from '../../model/entity-id.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { AiFormat } from '../../engine/rulechain/capabilities/ai.ts'
import { defineNode, orZero, requireField } from '../define-node.ts'
import { pattern } from '../pattern.ts'
import { callingNode, success } from './outcome.ts'

const NAME = 'AI request'
const MAX_CHARACTERS = 500_000
const LONGEST_SECONDS = 600
const DEFAULT_SECONDS = 60

const prompt = z.string().max(MAX_CHARACTERS)
const modelId = z.looseObject({ id: z.string().refine(isUuid, 'a UUID is expected') })

export const aiRequest = defineNode({
  type: 'org.thingsboard.rule.engine.ai.TbAiNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Asks an AI model of the tenant (OpenAI, Azure OpenAI, Mistral, GitHub, Anthropic, Google AI and Vertex, Amazon Bedrock, Ollama); the answer becomes the body, in the member `response` if it is no JSON object.',
  triedWith: 'fakes of the documented interfaces of these providers',
  configuration: z.looseObject({
    modelId: modelId.nullish().meta({ title: 'Model', description: 'One of the AI models of the tenant.' }),
    systemPrompt: prompt.nullish().meta({
      title: 'System prompt',
      description: 'What the model is to be. May hold ${metadata} and $[data].',
    }),
    userPrompt: prompt
      .nullish()
      .meta({ title: 'Prompt', description: 'The question. May hold ${metadata} and $[data].' }),
    resourceIds: z.array(z.string().refine(isUuid, 'a UUID is expected')).nullish().meta({
      title: 'Files',
      description: 'Resources of the type GENERAL for each question: images and PDF as files, others as text.',
    }),
    responseFormat: z
      .discriminatedUnion('type', [
        z.looseObject({ type: z.literal('TEXT') }),
        z.looseObject({ type: z.literal('JSON') }),
        z.looseObject({ type: z.literal('JSON_SCHEMA'), schema: z.record(z.string(), z.unknown()) }),
      ])
      .nullish()
      .meta({ title: 'Answer', description: 'TEXT, JSON, or JSON_SCHEMA with a schema.' }),
    timeoutSeconds: orZero(z.int().min(0).max(LONGEST_SECONDS), 0).meta({
      title: 'Time-out',
      description: 'Of a call, in seconds; 0 is 60. Without forced acknowledgement OUTBOUND_TIMEOUT_MS bounds it too.',
    }),
    forceAck: orZero(z.boolean(), false).meta({
      title: 'Forced acknowledgement',
      description: 'The message settles before the model is asked; the answer is a message of its own.',
    }),
  }),
  constraints: z.looseObject({
    modelId,
    systemPrompt: prompt.nullish(),
    userPrompt: prompt.refine((text) => text.trim() !== '', 'must not be blank'),
  }),
  defaults: {
    modelId: null,
    systemPrompt: 'You are a helpful assistant for an Internet of things platform. Answer briefly and to the point.',
    userPrompt: null,
    resourceIds: null,
    responseFormat: { type: 'JSON' },
    timeoutSeconds: DEFAULT_SECONDS,
    forceAck: true,
  },
  editor: { form: 'tbExternalNodeAiConfig' },
  examples: [],
  uses: ['ai', 'outbound'],
  effects: true,
  create: async (config, { services: { ai, outbound } }) => {
    const { modelId: ofModel, systemPrompt, userPrompt, resourceIds, timeoutSeconds } = config
    requireField(ofModel !== null && ofModel !== undefined, NAME, 'modelId', 'is missing')
    requireField(Boolean(userPrompt?.trim()), NAME, 'userPrompt', 'is empty')
    const format = formatOf(config.responseFormat)
    const systemOf = systemPrompt ? pattern(systemPrompt) : undefined
    const userOf = pattern(userPrompt ?? '')
    const forceAck = config.forceAck || outbound.forceAck
    const timeoutMs = (timeoutSeconds === 0 ? DEFAULT_SECONDS : timeoutSeconds) * 1000
    const model = await ai.open(ofModel.id, { timeoutMs, isAwaited: !forceAck, fileIds: [...new Set(resourceIds)] })
    return callingNode({ forceAck }, model, async (message) => {
      const system = systemOf?.(message)
      const answer = await model.ask({ ...(system === undefined ? {} : { system }), user: userOf(message), format })
      return success(message.with({ data: bodyOf(answer) }))
    })
  },
})

function formatOf(format: { readonly type: AiFormat['type']; readonly schema?: unknown } | null | undefined): AiFormat {
  if (format?.type !== 'JSON_SCHEMA') return { type: format?.type ?? 'TEXT' }
  const { schema } = format
  return { type: 'JSON_SCHEMA', schema: isJsonObject(schema) ? schema : ({} satisfies JsonObject) }
}

function bodyOf(answer: string): string {
  let json: JsonValue
  try {
    json = parseJson(answer)
  } catch {
    // A text is what was asked for, or what a model answers all the same.
    json = answer
  }
  return isJsonObject(json) ? answer : stringifyJson({ response: answer })
}
