/** A version of a rule chain on messages of the log: a shadow beside the live one, or a replay. Our own addition. */
import { z } from 'zod'
import { TRIAL_KINDS, TRIAL_PHASES, type ChainTrials, type TrialReport } from '../../model/chain-trial.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import { ruleChains } from '../../services/entities/rule-chain.ts'
import type { RuleChains } from '../../services/rule-chains/rule-chains.ts'
import { tenantOf } from './authorize.ts'
import type { RouteMaker } from './declared/declare.ts'
import type { DeclaredRoute } from './declared/route.ts'
import { TENANT } from './route.ts'
import { drawnSchema } from './rule-chain-routes.ts'

export interface ChainTrialRoutesParts {
  readonly make: RouteMaker
  readonly chains: Pick<RuleChains, 'forTrial'>
  readonly trials: ChainTrials
}

const MAX_MESSAGES = 100_000
const MAX_DURATION_MS = 3_600_000

const bodySchema = z.object({
  kind: z.enum(TRIAL_KINDS),
  /** Replays: do what nodes do. */
  real: z.boolean().default(false),
  from: z.int().nonnegative().optional(),
  durationMs: z.int().positive().max(MAX_DURATION_MS).default(60_000),
  maxMessages: z.int().positive().max(MAX_MESSAGES).default(10_000),
  metadata: drawnSchema,
})
const orderSchema = bodySchema.refine(({ kind, real, from }) => (kind === 'replay' ? from !== undefined : !real), {
  error: 'a replay needs "from"; a shadow is never real',
})

const count = { type: 'integer' } as const
const text = { type: 'string' } as const
const REPORT_SHAPE: JsonObject = {
  title: 'RuleChainTrial',
  type: 'object',
  properties: {
    ...{ id: text, kind: { enum: [...TRIAL_KINDS] }, phase: { enum: [...TRIAL_PHASES] }, reason: text },
    isReal: { type: 'boolean' },
    cut: { enum: ['messages', 'time'], description: 'Why it ended before it saw all' },
    ...{ startedAt: count, from: count, until: count },
    reached: { ...count, description: 'The time of the log that it has come to' },
    retainedFrom: { ...count, description: 'When the oldest message was stored that the log still has' },
    ...{ messages: count, maxMessages: count, reachedChain: count, failed: count, unended: count },
    passedOver: { ...count, description: 'Messages that nodes had put aside or sent: the trial makes its own' },
    ...{ differing: count, untoldNodes: count },
    differences: { type: 'array', items: { type: 'object' } },
    nodes: { type: 'array', items: { type: 'object' } },
    unstarted: { type: 'array', items: { type: 'object' } },
  },
  required: ['id', 'kind', 'phase', 'messages', 'differing', 'differences', 'nodes'],
}

export function chainTrialRoutes({ make, chains, trials }: ChainTrialRoutesParts): readonly DeclaredRoute[] {
  const ofTrial = {
    authorities: TENANT,
    targets: { trialId: { untargeted: 'no entity: only trials of the own tenant are found' } },
    query: {},
    body: undefined,
    answer: REPORT_SHAPE,
    path: '/api/ruleChain/trial/{trialId}',
  } as const
  return [
    make.route({
      method: 'POST',
      path: '/api/ruleChain/{ruleChainId}/trial',
      about:
        'Takes a version of a rule chain that is not saved through messages of the log: beside the live one as they come, or from a time on.',
      authorities: TENANT,
      targets: { ruleChainId: { entity: ruleChains, operation: 'WRITE' } },
      query: {},
      body: orderSchema,
      example: () => ({
        ...{ kind: 'shadow', durationMs: 1 },
        metadata: { firstNodeIndex: null, nodes: [], connections: [] },
      }),
      answer: REPORT_SHAPE,
      handle: async ({ principal, path: { ruleChainId }, body: { metadata, real, from, ...order } }) => {
        const versions = await chains.forTrial(principal, { ...metadata, ruleChainId, version: undefined })
        const tenantId = tenantOf(principal)
        return reportJson(trials.begin({ ...order, tenantId, ruleChainId, isReal: real, from }, versions))
      },
    }),
    make.route({
      ...ofTrial,
      method: 'GET',
      about: 'How far a trial is, and what it found so far. It is kept for some minutes, in the process that began it.',
      handle: async ({ principal, path }) => reportJson(trials.report(tenantOf(principal), path.trialId)),
    }),
    make.route({
      ...ofTrial,
      method: 'DELETE',
      about: 'Ends a trial; answers what it found.',
      handle: async ({ principal, path }) => reportJson(await trials.stop(tenantOf(principal), path.trialId)),
    }),
  ]
}

/** Members that are not there are left out. */
function reportJson(report: TrialReport): JsonValue {
  return JSON.parse(JSON.stringify(report)) as JsonValue
}
