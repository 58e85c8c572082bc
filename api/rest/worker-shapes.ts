/** How worker pools look in answers. */
import type { JsonObject } from '../../model/json.ts'
import { listShape } from './declared/shapes.ts'

const text: JsonObject = { type: 'string' }
const number: JsonObject = { type: 'number' }
const count: JsonObject = { type: 'integer' }

function shape(title: string, properties: JsonObject): JsonObject {
  return { title, type: 'object', properties, required: Object.keys(properties) }
}

function all(type: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, type]))
}

const DISTRIBUTION = shape('Distribution', all(number, 'mean', 'p50', 'p99', 'most'))
const WORK = shape('Work', {
  windowMs: { ...count, description: 'What the figures cover; totals cover all since the start' },
  ...all(number, 'messagesPerSecond', 'utilisation'),
  ...all(DISTRIBUTION, 'queueWaitMs', 'runMs', 'batchMessages'),
  totals: {
    type: 'object',
    properties: all(count, 'messages', 'batches', 'errors', 'timeouts', 'memoryErrors', 'blocked', 'refused', 'deaths'),
  },
})
const SCRIPT = shape('ScriptWork', {
  ...all(text, 'tenantId', 'tenantName', 'ruleChainId', 'ruleChainName', 'ruleNodeId', 'ruleNodeName'),
  waiting: count,
  breaker: {
    type: 'object',
    properties: { state: { enum: ['closed', 'open', 'half-open'] }, ...all(count, 'retryInMs', 'trips') },
    required: ['state', 'retryInMs', 'trips'],
  },
  work: WORK,
})
const TENANT = shape('TenantWork', {
  ...all(text, 'tenantId', 'tenantName'),
  ...all(count, 'scripts', 'waiting'),
  work: WORK,
})
const POOL = {
  name: text,
  settings: { type: 'object', additionalProperties: number },
  ...all(count, 'threads', 'scripts', 'tenants', 'waiting', 'running', 'breakersOpen'),
  work: WORK,
  busiestTenants: listShape(TENANT),
  busiestScripts: listShape(SCRIPT),
}
const member: JsonObject = { ...text, description: 'The process that answers' }

export const MEMBER_POOL = shape('MemberPool', { member, ...POOL })
export const POOLS = shape('MemberPools', { member, pools: listShape(shape('WorkerPool', POOL)) })
