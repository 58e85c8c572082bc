/**
 * What the providers are asked and what they answer. Five forms of one HTTP request serve all nine of them, so there is no library of theirs:
 * each would bring a client of its own past our guard and bounds.
 */
import { z } from 'zod'
import type { AiFormat, AiQuestion } from '../../engine/rulechain/capabilities/ai.ts'
import type { HttpCall } from '../../engine/rulechain/capabilities/outbound.ts'
import type { AiConfiguration } from './configuration.ts'
import { encoded, signedHeaders } from './aws-signature.ts'
import { contentOf, ollamaMessage, type AiFile } from './file-parts.ts'

type Of<Provider extends AiConfiguration['provider']> = Extract<AiConfiguration, { readonly provider: Provider }>
type OpenAiLike = Of<'OPENAI' | 'AZURE_OPENAI' | 'MISTRAL_AI' | 'GITHUB_MODELS'>
type Gemini = Of<'GOOGLE_AI_GEMINI' | 'GOOGLE_VERTEX_AI_GEMINI'>

export const VERTEX_AUDIENCE = 'https://aiplatform.googleapis.com/'
const AZURE_VERSION = '2024-10-21'
const ANTHROPIC_VERSION = '2023-06-01'
/** Anthropic takes no question without a bound. */
const ANTHROPIC_TOKENS = 4096

/** What a provider is asked, with the files that go with it. */
export interface AiRequest extends AiQuestion {
  readonly files?: readonly AiFile[]
}

/** What a request is proved by. */
export interface AiProofs {
  /** Asked for Vertex alone. */
  readonly googleToken: () => string
  /** Unix ms. */
  readonly now: () => number
}

/** Throws `FILE_TYPE` where the provider takes no files of a type. */
export function requestOf(
  configuration: AiConfiguration,
  question: AiRequest,
  { googleToken, now }: AiProofs,
): HttpCall {
  switch (configuration.provider) {
    case 'OPENAI':
    case 'AZURE_OPENAI':
    case 'MISTRAL_AI':
    case 'GITHUB_MODELS':
      return post(...openAiTarget(configuration), openAiBody(configuration, question))
    case 'ANTHROPIC': {
      const headers = { 'x-api-key': configuration.providerConfig.apiKey, 'anthropic-version': ANTHROPIC_VERSION }
      return post('https://api.anthropic.com/v1/messages', headers, anthropicBody(configuration, question))
    }
    case 'GOOGLE_AI_GEMINI':
    case 'GOOGLE_VERTEX_AI_GEMINI':
      return post(...geminiTarget(configuration, googleToken), geminiBody(configuration, question))
    case 'OLLAMA':
      return post(
        `${base(configuration.providerConfig.baseUrl)}/api/chat`,
        ollamaLogin(configuration),
        ollamaBody(configuration, question),
      )
    case 'AMAZON_BEDROCK':
      return bedrockRequest(configuration, question, now())
  }
}

function post(url: string, headers: Readonly<Record<string, string>>, body: object): HttpCall {
  return {
    method: 'POST',
    url,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
}

/** By its interface for all of its models ("Converse" of the Amazon Bedrock API Reference). */
function bedrockRequest(model: Of<'AMAZON_BEDROCK'>, question: AiRequest, now: number): HttpCall {
  const { region, accessKeyId, secretAccessKey } = model.providerConfig
  const url = `https://bedrock-runtime.${region}.amazonaws.com/model/${encoded(model.modelId)}/converse`
  const call = post(url, {}, bedrockBody(model, question))
  const account = { accessKeyId, secretAccessKey, region, service: 'bedrock' }
  return { ...call, headers: signedHeaders(account, { ...call, body: call.body ?? '' }, now) }
}

function bedrockBody(model: Of<'AMAZON_BEDROCK'>, request: AiRequest): object {
  const told = toldInWords(request)
  return present({
    system: told === '' ? undefined : [{ text: told }],
    messages: [{ role: 'user', content: contentOf(request, model.provider) }],
    inferenceConfig: present({
      maxTokens: model.maxOutputTokens,
      temperature: model.temperature,
      topP: model.topP,
    }),
  })
}

function base(url: string): string {
  return url.replace(/\/+$/, '')
}

function openAiTarget(model: OpenAiLike): readonly [url: string, headers: Readonly<Record<string, string>>] {
  switch (model.provider) {
    case 'OPENAI': {
      const { baseUrl, apiKey } = model.providerConfig
      const url = `${base(baseUrl ?? 'https://api.openai.com/v1')}/chat/completions`
      return [url, apiKey ? bearer(apiKey) : {}]
    }
    case 'AZURE_OPENAI': {
      const { endpoint, serviceVersion, apiKey } = model.providerConfig
      const version = encodeURIComponent(serviceVersion ?? AZURE_VERSION)
      const path = `/openai/deployments/${encodeURIComponent(model.modelId)}/chat/completions?api-version=${version}`
      return [base(endpoint) + path, { 'api-key': apiKey }]
    }
    case 'MISTRAL_AI':
      return ['https://api.mistral.ai/v1/chat/completions', bearer(model.providerConfig.apiKey)]
    case 'GITHUB_MODELS':
      return ['https://models.github.ai/inference/chat/completions', bearer(model.providerConfig.personalAccessToken)]
  }
}

function bearer(token: string) {
  return { Authorization: `Bearer ${token}` }
}

function openAiBody(model: OpenAiLike, request: AiRequest): object {
  const { system, format } = request
  // OpenAI's newer models take the bound by this name alone, the others by the older one.
  const bound = model.provider === 'OPENAI' ? 'max_completion_tokens' : 'max_tokens'
  return present({
    model: model.modelId,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: contentOf(request, model.provider) },
    ],
    temperature: model.temperature,
    top_p: model.topP,
    frequency_penalty: model.frequencyPenalty,
    presence_penalty: model.presencePenalty,
    [bound]: model.maxOutputTokens,
    response_format: openAiFormat(format),
  })
}

function openAiFormat(format: AiFormat): object | undefined {
  if (format.type === 'TEXT') return undefined
  if (format.type === 'JSON') return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'response', strict: true, schema: format.schema } }
}

/** It knows no formats: it is told in words. */
function anthropicBody(model: Of<'ANTHROPIC'>, request: AiRequest): object {
  const told = toldInWords(request)
  return present({
    model: model.modelId,
    system: told === '' ? undefined : told,
    messages: [{ role: 'user', content: contentOf(request, model.provider) }],
    max_tokens: model.maxOutputTokens ?? ANTHROPIC_TOKENS,
    temperature: model.temperature,
    top_p: model.topP,
    top_k: model.topK,
  })
}

function toldInWords({ system, format }: AiRequest): string {
  return [system, wordsOf(format)].filter((text) => text !== undefined).join('\n\n')
}

function wordsOf(format: AiFormat): string | undefined {
  if (format.type === 'TEXT') return undefined
  const only = 'Answer with one JSON object and nothing else: no explanation, no code fence.'
  return format.type === 'JSON' ? only : `${only} It must match this JSON schema: ${JSON.stringify(format.schema)}`
}

function geminiTarget(
  model: Gemini,
  googleToken: () => string,
): readonly [url: string, headers: Readonly<Record<string, string>>] {
  const path = `${encodeURIComponent(model.modelId)}:generateContent`
  if (model.provider === 'GOOGLE_AI_GEMINI') {
    const url = `https://generativelanguage.googleapis.com/v1beta/models/${path}`
    return [url, { 'x-goog-api-key': model.providerConfig.apiKey }]
  }
  const { projectId, location } = model.providerConfig
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`
  const place = `projects/${encodeURIComponent(projectId)}/locations/${location}/publishers/google/models`
  return [`https://${host}/v1/${place}/${path}`, bearer(googleToken())]
}

function geminiBody(model: Gemini, request: AiRequest): object {
  const { system, format } = request
  return present({
    systemInstruction: system === undefined ? undefined : { parts: [{ text: system }] },
    contents: [{ role: 'user', parts: contentOf(request, model.provider) }],
    generationConfig: present({
      temperature: model.temperature,
      topP: model.topP,
      topK: model.topK,
      frequencyPenalty: model.frequencyPenalty,
      presencePenalty: model.presencePenalty,
      maxOutputTokens: model.maxOutputTokens,
      responseMimeType: format.type === 'TEXT' ? undefined : 'application/json',
      responseJsonSchema: format.type === 'JSON_SCHEMA' ? format.schema : undefined,
    }),
  })
}

function ollamaLogin({ providerConfig: { auth } }: Of<'OLLAMA'>): Readonly<Record<string, string>> {
  switch (auth.type) {
    case 'NONE':
      return {}
    case 'TOKEN':
      return bearer(auth.token)
    case 'BASIC':
      return { Authorization: `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}` }
  }
}

function ollamaBody(model: Of<'OLLAMA'>, request: AiRequest): object {
  const { system, format } = request
  return present({
    model: model.modelId,
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ollamaMessage(request)],
    stream: false,
    format: format.type === 'TEXT' ? undefined : format.type === 'JSON' ? 'json' : format.schema,
    options: present({
      temperature: model.temperature,
      top_p: model.topP,
      top_k: model.topK,
      num_ctx: model.contextLength,
      num_predict: model.maxOutputTokens,
    }),
  })
}

function present(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
}

const openAiAnswer = z
  .object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1) })
  .transform(({ choices }) => choices[0]?.message.content ?? '')
const anthropicAnswer = z
  .object({ content: z.array(z.looseObject({ text: z.string().optional() })) })
  .transform(({ content }) => content.map(({ text = '' }) => text).join(''))
const geminiAnswer = z
  .object({
    candidates: z
      .array(
        z.object({
          content: z.object({ parts: z.array(z.looseObject({ text: z.string().optional() })).default([]) }),
        }),
      )
      .min(1),
  })
  .transform(({ candidates }) => (candidates[0]?.content.parts ?? []).map(({ text = '' }) => text).join(''))
const ollamaAnswer = z
  .object({ message: z.object({ content: z.string() }) })
  .transform(({ message }) => message.content)

const bedrockAnswer = z
  .object({
    output: z.object({
      message: z.object({ content: z.array(z.looseObject({ text: z.string().optional() })) }),
    }),
  })
  .transform(({ output }) => output.message.content.map(({ text = '' }) => text).join(''))

const ANSWERS: { readonly [Provider in AiConfiguration['provider']]: z.ZodType<string> } = {
  ...{ OPENAI: openAiAnswer, AZURE_OPENAI: openAiAnswer, MISTRAL_AI: openAiAnswer, GITHUB_MODELS: openAiAnswer },
  ...{ ANTHROPIC: anthropicAnswer, OLLAMA: ollamaAnswer, AMAZON_BEDROCK: bedrockAnswer },
  ...{ GOOGLE_AI_GEMINI: geminiAnswer, GOOGLE_VERTEX_AI_GEMINI: geminiAnswer },
}

/** Undefined where the answer has not the provider's form. */
export function answerOf(provider: AiConfiguration['provider'], body: string): string | undefined {
  return ANSWERS[provider].safeParse(jsonOf(body)).data
}

const refusal = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ message: z.string() }).transform(({ message }) => message),
])
const MAX_CHARACTERS = 500

/** In the provider's words where it has some. */
export function refusalOf(body: string): string {
  const read = refusal.safeParse(jsonOf(body))
  return read.success ? `: ${read.data.slice(0, MAX_CHARACTERS)}` : ''
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // What stands between here and the provider may answer a page.
    return undefined
  }
}
