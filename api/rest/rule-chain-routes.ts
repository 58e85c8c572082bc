/** Rule chains and their graphs. Source: `rest-api.md` section 8. */
import { z } from 'zod'
import { defineErrors } from '../../model/errors.ts'
import type { RuleChain } from '../../model/entities.ts'
import type { GraphDraft, RuleChainDraft, Services } from '../../services/services.ts'
import { allow, found, tenantOf } from './authorize.ts'
import { anyJson, bodyOf, idObject, jsonObject, optionalId, optionalText, optionalVersion } from './body.ts'
import { uuidOf } from './query.ts'
import { renderGraph, renderPage } from './render.ts'
import { ruleChainJson } from '../../services/entity-json.ts'
import { EMPTY_ANSWER, TENANT, jsonAnswer, type RestRoute, type UserCall } from './route.ts'

const RuleChainRouteErrors = defineErrors('rule-chain-route', {
  ANOTHER_ROOT: {
    kind: 'invalid',
    status: 400,
    text: 'Another root rule chain is present in scope of current tenant!',
  },
})

const CHAIN_TYPES = ['CORE', 'EDGE'] as const

const chainSchema = z.object({
  id: optionalId,
  name: optionalText,
  type: z.enum(CHAIN_TYPES).nullish(),
  root: z.boolean().nullish(),
  debugMode: z.boolean().nullish(),
  configuration: anyJson.optional(),
  additionalInfo: anyJson.optional(),
  version: optionalVersion,
})

const nodeSchema = z.object({
  id: optionalId,
  type: z.string().min(1),
  name: optionalText,
  debugSettings: anyJson.optional(),
  singletonMode: z.boolean().nullish(),
  queueName: optionalText,
  configurationVersion: z.int().nullish(),
  configuration: jsonObject,
  additionalInfo: anyJson.optional(),
})

const connectionSchema = z.object({ fromIndex: z.int(), toIndex: z.int(), type: z.string() })

const graphSchema = z.object({
  ruleChainId: idObject,
  version: optionalVersion,
  firstNodeIndex: z.int().nullish(),
  nodes: z.array(nodeSchema).nullish(),
  connections: z.array(connectionSchema).nullish(),
  ruleChainConnections: z.array(jsonObject).nullish(),
  notes: anyJson.optional(),
})

const defaultChainSchema = z.object({ name: optionalText })

export function ruleChainRoutes(services: Services): readonly RestRoute[] {
  return [...chainRoutes(services), ...graphRoutes(services)]
}

function chainRoutes({ ruleChains, access }: Services): readonly RestRoute[] {
  const chain = async (call: UserCall): Promise<RuleChain> => {
    const id = uuidOf('ruleChainId', call.parameter(0))
    await allow(access, call.principal, 'READ', 'RULE_CHAIN', id)
    return found(await ruleChains.find(tenantOf(call.principal), id), 'Rule chain', id)
  }
  return [
    {
      method: 'GET',
      pattern: '/api/ruleChain/:ruleChainId',
      authorities: TENANT,
      handle: async (call) => jsonAnswer(ruleChainJson(await chain(call))),
    },
    {
      method: 'GET',
      pattern: '/api/ruleChains',
      authorities: TENANT,
      handle: async ({ principal, query }) => {
        const type = query.oneOf('type', CHAIN_TYPES) ?? 'CORE'
        return jsonAnswer(renderPage(await ruleChains.page(tenantOf(principal), type, query.page()), ruleChainJson))
      },
    },
    {
      method: 'POST',
      pattern: '/api/ruleChain',
      authorities: TENANT,
      handle: async (call) => {
        const body = bodyOf(call, chainSchema)
        if (body.id === undefined) access.checkAuthority(call.principal, 'CREATE', 'RULE_CHAIN')
        else await allow(access, call.principal, 'WRITE', 'RULE_CHAIN', body.id)
        const present = body.id === undefined ? undefined : await ruleChains.find(tenantOf(call.principal), body.id)
        // The root is made by its own call; a client that sends back what it read may keep the flag.
        if (body.root === true && present?.root !== true) throw RuleChainRouteErrors.ANOTHER_ROOT()
        return jsonAnswer(ruleChainJson(await ruleChains.saveByUser(call.principal, chainDraft(body))))
      },
    },
    {
      method: 'POST',
      pattern: '/api/ruleChain/device/default',
      authorities: TENANT,
      handle: async (call) => {
        access.checkAuthority(call.principal, 'CREATE', 'RULE_CHAIN')
        const { name } = bodyOf(call, defaultChainSchema)
        return jsonAnswer(ruleChainJson(await ruleChains.createDefaultByUser(call.principal, name ?? '')))
      },
    },
    {
      method: 'POST',
      pattern: '/api/ruleChain/:ruleChainId/root',
      authorities: TENANT,
      handle: async (call) => {
        const { id } = await chain(call)
        await allow(access, call.principal, 'WRITE', 'RULE_CHAIN', id)
        return jsonAnswer(ruleChainJson(await ruleChains.setRootByUser(call.principal, id)))
      },
    },
    {
      method: 'DELETE',
      pattern: '/api/ruleChain/:ruleChainId',
      authorities: TENANT,
      handle: async (call) => {
        const id = uuidOf('ruleChainId', call.parameter(0))
        await allow(access, call.principal, 'DELETE', 'RULE_CHAIN', id)
        await ruleChains.deleteByUser(call.principal, id)
        return EMPTY_ANSWER
      },
    },
  ]
}

function graphRoutes({ ruleChains, access }: Services): readonly RestRoute[] {
  return [
    {
      method: 'GET',
      pattern: '/api/ruleChain/:ruleChainId/metadata',
      authorities: TENANT,
      handle: async (call) => {
        const id = uuidOf('ruleChainId', call.parameter(0))
        await allow(access, call.principal, 'READ', 'RULE_CHAIN', id)
        return jsonAnswer(renderGraph(found(await ruleChains.graph(tenantOf(call.principal), id), 'Rule chain', id)))
      },
    },
    {
      method: 'POST',
      pattern: '/api/ruleChain/metadata',
      authorities: TENANT,
      handle: async (call) => {
        const draft = graphDraft(bodyOf(call, graphSchema))
        await allow(access, call.principal, 'WRITE', 'RULE_CHAIN', draft.ruleChainId)
        const disableUnknown = call.query.boolean('disableUnknown', false)
        return jsonAnswer(renderGraph(await ruleChains.saveGraphByUser(call.principal, draft, { disableUnknown })))
      },
    },
  ]
}

function chainDraft(body: z.infer<typeof chainSchema>): RuleChainDraft {
  return {
    id: body.id,
    name: body.name ?? '',
    type: body.type ?? undefined,
    debugMode: body.debugMode ?? undefined,
    configuration: body.configuration ?? null,
    additionalInfo: body.additionalInfo ?? null,
    version: body.version,
  }
}

function graphDraft(body: z.infer<typeof graphSchema>): GraphDraft {
  return {
    ruleChainId: body.ruleChainId.id,
    version: body.version,
    firstNodeIndex: body.firstNodeIndex ?? null,
    nodes: (body.nodes ?? []).map((node) => ({
      id: node.id,
      type: node.type,
      name: node.name ?? '',
      debugSettings: node.debugSettings ?? null,
      singletonMode: node.singletonMode ?? false,
      queueName: node.queueName ?? null,
      configurationVersion: node.configurationVersion ?? 0,
      configuration: node.configuration,
      additionalInfo: node.additionalInfo ?? null,
    })),
    connections: body.connections ?? null,
    ruleChainConnections: body.ruleChainConnections ?? null,
    ...(body.notes === undefined ? {} : { notes: body.notes }),
  }
}
