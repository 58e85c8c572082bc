/** What a model is and how it is reached: one form for each provider. Source: schemas `…ChatModelConfig` of the reference's API. */
import { z } from 'zod'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { mapSecrets, masksIn, SECRET_MASK, secretsOf, type SecretShape } from '../../model/secret-members.ts'
import { parseSent } from '../entities/parse-sent.ts'
import type { Vault } from '../vault/vault.ts'
import { AiErrors } from './errors.ts'

/** Beside those whose names are secrets anywhere, such as `apiKey`. */
const SECRETS: SecretShape = { providerConfig: { personalAccessToken: 'text', auth: { token: 'text' } } }
const LONGEST_SECONDS = 600

const text = z.string().min(1).max(16_384)
const short = z.string().min(1).max(255)
const number = z.number().nullish()
const count = z.int().positive().nullish()
const address = z.url({ protocol: /^https?$/ }).max(2048)

const common = {
  modelType: z.literal('CHAT').default('CHAT'),
  modelId: short,
  temperature: z.number().min(0).nullish(),
  topP: z.number().positive().max(1).nullish(),
  maxOutputTokens: count,
  timeoutSeconds: z.int().min(1).max(LONGEST_SECONDS).nullish(),
  maxRetries: z.int().min(0).max(10).nullish(),
}
const penalties = { frequencyPenalty: number, presencePenalty: number }
const topK = z.int().min(0).nullish()

export const aiConfiguration = z.discriminatedUnion('provider', [
  z.object({
    ...{ provider: z.literal('OPENAI'), ...common, ...penalties },
    providerConfig: z.object({ baseUrl: address.nullish(), apiKey: text.nullish() }),
  }),
  z.object({
    ...{ provider: z.literal('AZURE_OPENAI'), ...common, ...penalties },
    providerConfig: z.object({ endpoint: address, serviceVersion: short.nullish(), apiKey: text }),
  }),
  z.object({
    ...{ provider: z.literal('GOOGLE_AI_GEMINI'), ...common, ...penalties, topK },
    providerConfig: z.object({ apiKey: text }),
  }),
  z.object({
    ...{ provider: z.literal('GOOGLE_VERTEX_AI_GEMINI'), ...common, ...penalties, topK },
    providerConfig: z.object({
      ...{ fileName: short, projectId: short, serviceAccountKey: text },
      // A part of the host's name.
      location: z.string().regex(/^[a-z0-9-]{1,63}$/, 'must be the name of a location'),
    }),
  }),
  z.object({
    ...{ provider: z.literal('MISTRAL_AI'), ...common, ...penalties },
    providerConfig: z.object({ apiKey: text }),
  }),
  z.object({
    ...{ provider: z.literal('ANTHROPIC'), ...common, topK },
    providerConfig: z.object({ apiKey: text }),
  }),
  z.object({
    ...{ provider: z.literal('AMAZON_BEDROCK'), ...common },
    providerConfig: z.object({
      // A part of the host's name.
      region: z.string().regex(/^[a-z0-9-]{1,63}$/, 'must be the name of a region'),
      ...{ accessKeyId: short, secretAccessKey: text },
    }),
  }),
  z.object({
    ...{ provider: z.literal('GITHUB_MODELS'), ...common, ...penalties },
    providerConfig: z.object({ personalAccessToken: text }),
  }),
  z.object({
    ...{ provider: z.literal('OLLAMA'), ...common, topK, contextLength: count },
    providerConfig: z.object({
      baseUrl: address,
      auth: z.discriminatedUnion('type', [
        z.object({ type: z.literal('NONE') }),
        z.object({ type: z.literal('BASIC'), username: text, password: text }),
        z.object({ type: z.literal('TOKEN'), token: text }),
      ]),
    }),
  }),
])

export type AiConfiguration = z.output<typeof aiConfiguration>

/** Throws `INVALID`, which names the member. */
export function aiConfigurationOf(json: JsonValue): AiConfiguration {
  // Numbers as every reader of JSON has them: a provider needs no more digits.
  const read = parseSent(aiConfiguration, JSON.parse(stringifyJson(json)))
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw AiErrors.INVALID({
    member: ['configuration', ...(issue?.path ?? [])].join('.'),
    reason: issue?.message ?? 'invalid',
  })
}

/** The same as JSON, without what no provider knows: what is a text there is one here, though it came as a number. Throws `INVALID`. */
export function aiJsonOf(json: JsonValue): JsonObject {
  const read = parseJson(JSON.stringify(aiConfigurationOf(json)))
  return isJsonObject(read) ? read : {}
}

/** As it is answered. */
export function maskedAi(configuration: JsonObject): JsonObject {
  return mapSecrets(configuration, SECRETS, () => SECRET_MASK)
}

/** As it is stored; a mask stays. */
export function sealedAi(configuration: JsonObject, vault: Vault, tenantId: string): JsonObject {
  return mapSecrets(configuration, SECRETS, (secret, path) =>
    secret === SECRET_MASK ? secret : vault.seal(secret, placeOf(tenantId, path)),
  )
}

/** As a call needs it. Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function openedAi(configuration: JsonObject, vault: Vault, tenantId: string): JsonObject {
  return mapSecrets(configuration, SECRETS, (secret, path) => vault.open(secret, placeOf(tenantId, path)))
}

/** Undefined where all is sealed under the key in force. Throws `vault.KEY_UNKNOWN`, `vault.DAMAGED`. */
export function sealedAnewAi(configuration: JsonObject, vault: Vault, tenantId: string): JsonObject | undefined {
  const isStale = [...secretsOf(configuration, SECRETS).values()].some((secret) => !vault.isCurrent(secret))
  return isStale ? sealedAi(openedAi(configuration, vault, tenantId), vault, tenantId) : undefined
}

/** With the stored secrets where a mask stands for them. As another provider's, or at another address, they would be handed to whoever that is. */
export function filledAi(configuration: JsonObject, before: JsonObject | undefined): JsonObject {
  const kept = before !== undefined && isSameService(before, configuration) ? secretsOf(before, SECRETS) : undefined
  const filled = mapSecrets(configuration, SECRETS, (secret, path) =>
    secret === SECRET_MASK ? (kept?.get(path) ?? secret) : secret,
  )
  const [masked] = masksIn(filled, SECRETS)
  if (masked !== undefined) throw AiErrors.SECRET_MASKED({ member: `configuration.${masked}` })
  return filled
}

export function aiSecretsOf(configuration: JsonObject): readonly string[] {
  return [...secretsOf(configuration, SECRETS).values()]
}

/** The first member that a mask stands in, where no stored secret is meant. */
export function maskedMember(configuration: JsonObject): string | undefined {
  return masksIn(configuration, SECRETS)[0]
}

function placeOf(tenantId: string, path: string): string {
  return `ai_model/${tenantId}${path}`
}

function isSameService(one: JsonObject, other: JsonObject): boolean {
  return one['provider'] === other['provider'] && addressOf(one) === addressOf(other)
}

function addressOf({ providerConfig = null }: JsonObject): string {
  const config: JsonObject = isJsonObject(providerConfig) ? providerConfig : {}
  return stringifyJson([config['baseUrl'] ?? null, config['endpoint'] ?? null])
}
