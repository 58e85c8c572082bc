/** Questions to a fake of each provider that can be given an address, and the requests of the others. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import type { AiQuestion } from '../../engine/rulechain/capabilities/ai.ts'
import type { Clock } from '../../model/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import { systemClock } from '../../model/system-clock.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { AiFiles } from './ai-files.ts'
import { AiChats } from './ai-chats.ts'
import type { OpenedModel } from './ai-models.ts'
import { aiConfigurationOf } from './configuration.ts'
import { answerOf, requestOf } from './protocols.ts'

const answers: { status: number; body: string }[] = []
const requests: { readonly request: IncomingMessage; readonly body: JsonObject }[] = []
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    requests.push({ request, body: JSON.parse(body) as JsonObject })
    const { status, body: said } = answers.shift() ?? { status: 500, body: '' }
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(said)
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  answers.length = 0
  requests.length = 0
})

const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
/** Pauses are over at once. */
const clock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  soon: (run) => systemClock.soon(run),
  after: (ms, run) => systemClock.after(ms > 10_000 ? ms : 0, run),
}
const QUESTION: AiQuestion = { system: 'Be brief.', user: 'Is 80 normal?', format: { type: 'JSON' } }
const LIMITS = { timeoutMs: 15_000, isAwaited: true, fileIds: [] }
const OPENAI: JsonObject = {
  ...{ provider: 'OPENAI', modelId: 'gpt-4o', temperature: 0.2, maxOutputTokens: 100 },
  providerConfig: { baseUrl: `${base}/v1/`, apiKey: 'sk-hunter2' },
}
const failureOf = ({ errorDetails }: JsonObject): string => (typeof errorDetails === 'string' ? errorDetails : '')
const said = (content: string) => ({ status: 200, body: JSON.stringify({ choices: [{ message: { content } }] }) })

let model: OpenedModel = { version: 1, configuration: aiConfigurationOf(OPENAI) }
const chats = (allowed = true) =>
  new AiChats({
    models: { open: async () => model },
    files: new AiFiles({ findShared: async () => undefined, hold: () => assert.fail('there is no file') }, clock),
    outbound: testOutbound(allowed ? {} : { allowedAddresses: [] }),
    clock,
  })

test('OpenAI’s form: the key in a header, the model’s settings and the format in the body', async (t) => {
  const asked = await chats().ofNode({ tenantId: 'a' }).open('m', LIMITS)
  t.after(() => asked.close())
  answers.push(said('{"isNormal":false}'))
  assert.equal(await asked.ask(QUESTION), '{"isNormal":false}')
  const [sent] = requests
  assert.deepEqual(
    [sent?.request.url, sent?.request.headers.authorization],
    ['/v1/chat/completions', 'Bearer sk-hunter2'],
  )
  assert.deepEqual(sent?.body, {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Is 80 normal?' },
    ],
    temperature: 0.2,
    max_completion_tokens: 100,
    response_format: { type: 'json_object' },
  })
})

test('a changed model is asked with its new key, without a restart', async (t) => {
  const asked = await chats().ofNode({ tenantId: 'a' }).open('m', LIMITS)
  t.after(() => asked.close())
  const before = model
  t.after(() => void (model = before))
  model = {
    version: 2,
    configuration: aiConfigurationOf({ ...OPENAI, providerConfig: { baseUrl: base, apiKey: 'new' } }),
  }
  answers.push(said('yes'))
  await asked.ask(QUESTION)
  assert.equal(requests[0]?.request.headers.authorization, 'Bearer new')
})

test('Ollama’s form, with each login', async () => {
  for (const [auth, header] of [
    [{ type: 'NONE' }, undefined],
    [{ type: 'TOKEN', token: 'secret' }, 'Bearer secret'],
    [{ type: 'BASIC', username: 'u', password: 'p' }, `Basic ${Buffer.from('u:p').toString('base64')}`],
  ] as const) {
    requests.length = 0
    answers.push({ status: 200, body: '{"message":{"role":"assistant","content":"Kyiv"}}' })
    const configuration = {
      provider: 'OLLAMA',
      modelId: 'llama3.2',
      topK: 5,
      contextLength: 512,
      providerConfig: { baseUrl: base, auth },
    }
    const question = { user: 'Q', format: { type: 'JSON_SCHEMA', schema: { type: 'object' } } } as const
    assert.deepEqual(await chats().askOnce('a', configuration, question), {
      status: 'SUCCESS',
      generatedContent: 'Kyiv',
    })
    assert.deepEqual([requests[0]?.request.url, requests[0]?.request.headers.authorization], ['/api/chat', header])
    assert.deepEqual(requests[0]?.body, {
      ...{ model: 'llama3.2', messages: [{ role: 'user', content: 'Q' }], stream: false },
      ...{ format: { type: 'object' }, options: { top_k: 5, num_ctx: 512 } },
    })
  }
})

test('Azure’s form names the deployment and the version', async () => {
  answers.push(said('yes'))
  const providerConfig = { endpoint: base, apiKey: 'k', serviceVersion: '2025-01-01' }
  await chats().askOnce('a', { provider: 'AZURE_OPENAI', modelId: 'my gpt', providerConfig }, QUESTION)
  const { url, headers } = requests[0]?.request ?? {}
  assert.deepEqual(
    [url, headers?.['api-key']],
    ['/openai/deployments/my%20gpt/chat/completions?api-version=2025-01-01', 'k'],
  )
})

test('a busy provider is asked again as often as the model says; a refusal is not, and is told in its words', async () => {
  answers.push({ status: 429, body: '{}' }, { status: 503, body: '' }, said('yes'))
  assert.equal((await chats().askOnce('a', OPENAI, QUESTION))['status'], 'SUCCESS')
  answers.push({ status: 503, body: '' }, said('never'))
  const once = await chats().askOnce('a', { ...OPENAI, maxRetries: 0 }, QUESTION)
  assert.deepEqual(once, { status: 'FAILURE', errorDetails: 'OPENAI answered 503' })
  answers.length = 0
  requests.length = 0
  answers.push({ status: 401, body: '{"error":{"message":"Incorrect API key provided: sk-hunter2"}}' })
  const refused = await chats().askOnce('a', OPENAI, QUESTION)
  assert.deepEqual(refused, {
    status: 'FAILURE',
    errorDetails: 'OPENAI answered 401: Incorrect API key provided: ********',
  })
  assert.equal(requests.length, 1)
  answers.push({ status: 200, body: '<html>' })
  assert.match(failureOf(await chats().askOnce('a', OPENAI, QUESTION)), /no answer of a model/)
})

test('internal addresses and masked keys are not asked', async () => {
  assert.match(failureOf(await chats(false).askOnce('a', OPENAI, QUESTION)), /internal address/)
  const masked = { ...OPENAI, providerConfig: { apiKey: '********' } }
  await assert.rejects(chats().askOnce('a', masked, QUESTION), { code: 'ai.SECRET_MASKED' })
  assert.equal(requests.length, 0)
})

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const PROOFS = { googleToken: () => 'token', now: () => NOW }
const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })

test('the others: where their requests go, who asks, and what their answers hold', () => {
  const key = { providerConfig: { apiKey: 'k' } }
  const vertex = { fileName: 'f', projectId: 'p', location: 'europe-west4', serviceAccountKey: String(PEM) }
  for (const [configuration, url, header, body, answer] of [
    [
      { provider: 'ANTHROPIC', modelId: 'claude', ...key },
      'https://api.anthropic.com/v1/messages',
      ['x-api-key', 'k'],
      /"system":"Be brief\.\\n\\nAnswer with one JSON object.*"max_tokens":4096/,
      {
        content: [
          { type: 'text', text: 'Ky' },
          { type: 'text', text: 'iv' },
        ],
      },
    ],
    [
      { provider: 'GOOGLE_AI_GEMINI', modelId: 'gemini', ...key },
      'https://generativelanguage.googleapis.com/v1beta/models/gemini:generateContent',
      ['x-goog-api-key', 'k'],
      /"systemInstruction":\{"parts":\[\{"text":"Be brief\."\}\]\}.*"responseMimeType":"application\/json"/,
      { candidates: [{ content: { role: 'model', parts: [{ text: 'Kyiv' }] } }] },
    ],
    [
      { provider: 'GOOGLE_VERTEX_AI_GEMINI', modelId: 'gemini', providerConfig: vertex },
      'https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini:generateContent',
      ['Authorization', 'Bearer token'],
      /"contents"/,
      { candidates: [{ content: { parts: [{ text: 'Kyiv' }] } }] },
    ],
    [
      { provider: 'MISTRAL_AI', modelId: 'small', maxOutputTokens: 5, ...key },
      'https://api.mistral.ai/v1/chat/completions',
      ['Authorization', 'Bearer k'],
      /"max_tokens":5/,
      { choices: [{ message: { content: 'Kyiv' } }] },
    ],
    [
      { provider: 'GITHUB_MODELS', modelId: 'openai/gpt-4o', providerConfig: { personalAccessToken: 'k' } },
      'https://models.github.ai/inference/chat/completions',
      ['Authorization', 'Bearer k'],
      /"model":"openai\/gpt-4o"/,
      { choices: [{ message: { content: 'Kyiv' } }] },
    ],
    [
      {
        ...{ provider: 'AMAZON_BEDROCK', modelId: 'anthropic.claude-v1:0', maxOutputTokens: 5 },
        providerConfig: { region: 'eu-west-1', accessKeyId: 'AKID', secretAccessKey: 'S' },
      },
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-v1%3A0/converse',
      ['X-Amz-Date', '20260102T030405Z'],
      /^\{"system":\[\{"text":"Be brief\.[^]*"messages":\[\{"role":"user","content":\[\{"text":"Is 80 normal\?"\}\]\}\],"inferenceConfig":\{"maxTokens":5\}\}$/,
      { output: { message: { role: 'assistant', content: [{ text: 'Ky' }, { text: 'iv' }] } }, stopReason: 'end_turn' },
    ],
  ] as const) {
    const read = aiConfigurationOf(JSON.parse(JSON.stringify(configuration)) as JsonObject)
    const call = requestOf(read, QUESTION, PROOFS)
    assert.deepEqual([call.method, call.url, call.headers[header[0]]], ['POST', url, header[1]])
    assert.match(call.body ?? '', body)
    assert.equal(answerOf(read.provider, JSON.stringify(answer)), 'Kyiv')
    assert.equal(answerOf(read.provider, '{"odd":1}'), undefined)
  }
})

test('a request to Amazon is signed for the service and the region', () => {
  const providerConfig = { region: 'eu-west-1', accessKeyId: 'AKID', secretAccessKey: 'S' }
  const read = aiConfigurationOf({ provider: 'AMAZON_BEDROCK', modelId: 'm', providerConfig })
  const { headers } = requestOf(read, QUESTION, PROOFS)
  assert.match(
    headers['Authorization'] ?? '',
    /^AWS4-HMAC-SHA256 Credential=AKID\/20260102\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/,
  )
  const elsewhere = { ...providerConfig, region: 'x@127.0.0.1/' }
  const wrong = { provider: 'AMAZON_BEDROCK', modelId: 'm', providerConfig: elsewhere }
  assert.throws(() => aiConfigurationOf(wrong), /region/)
})
