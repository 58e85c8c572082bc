/**
 * Rule chains from and to files: chains with their graphs under ids that only hold within the file. An import makes all of them or none, in one
 * transaction. Source: `rest-api.md` 8.4.
 */
import type { RuleChain, RuleChainGraph } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { attemptedSave } from '../audit/audit-log.ts'
import type { EntityEvent } from '../changes/changes.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { recordWith } from '../entities/rows.ts'
import { chainChanged, ruleChains, type RuleChainDraft } from '../entities/rule-chain.ts'
import { checkName } from '../names.ts'
import type { GraphDraft, NodeDraft } from './drafts.ts'
import { RuleChainErrors } from './errors.ts'
import { firstNodeId, nothingDrawn, targetChainOf } from './graph.ts'
import { idOfTarget, INPUT_NODE_TYPE } from './node-types.ts'
import type { CheckGraph, RuleChainParts } from './parts.ts'
import type { RuleChainVersions } from './versions.ts'

export interface RuleChainFile {
  readonly ruleChains: readonly RuleChain[]
  readonly metadata: readonly RuleChainGraph[]
}

/** As it is read from a file: ids are those of the file, versions mean nothing here. */
export interface RuleChainImport {
  readonly ruleChains: readonly Omit<RuleChainDraft, 'version'>[]
  readonly metadata: readonly GraphDraft[]
}

export interface ImportResult {
  readonly ruleChainId: string
  readonly ruleChainName: string
  /** One of this name and type was there. */
  readonly isUpdate: boolean
  readonly error: string | undefined
  /** Secrets that the file masks, as `node: member`: the nodes do not run before they are filled in. */
  readonly toFillIn: readonly string[]
}

/** One chain that is about to be written. */
interface Plan {
  readonly chain: RuleChain
  readonly before: RuleChain | undefined
  readonly graph: RuleChainGraph | undefined
}

type Outcome = { readonly plan: Plan } | { readonly error: Error }

/** A version of its own stands for each of the two steps, made and drawn, that a chain is saved in. */
const DRAWN_VERSION = 2

export class RuleChainTransfer {
  private readonly parts: RuleChainParts
  private readonly versions: RuleChainVersions
  private readonly checked: CheckGraph
  private readonly service: EntityService<typeof ruleChains.columns>

  constructor(parts: RuleChainParts, versions: RuleChainVersions, checked: CheckGraph) {
    this.versions = versions
    this.parts = parts
    this.checked = checked
    this.service = parts.declared.of(ruleChains)
  }

  /** The tenant's chains by their names, at most `limit`; secrets of nodes are masked. */
  async export(tenantId: string, limit: number): Promise<RuleChainFile> {
    const query = { page: 0, pageSize: limit, sortProperty: 'name' }
    const file: { ruleChains: RuleChain[]; metadata: RuleChainGraph[] } = { ruleChains: [], metadata: [] }
    for (const { record } of (await this.service.page(tenantId, {}, query)).data) {
      const graph = await this.parts.entities.ruleChains.graph(record.id)
      if (graph === undefined) continue
      file.ruleChains.push(record)
      file.metadata.push(this.parts.secrets.maskedGraph(graph))
    }
    return file
  }

  /**
   * `overwrite`: chains of the same name and type are changed in the place of making others. Node types that are not known are stored disabled.
   * Where one can not be imported none is, and each is answered with why.
   */
  async importByUser(
    principal: Principal,
    file: RuleChainImport,
    { overwrite }: { readonly overwrite: boolean },
  ): Promise<readonly ImportResult[]> {
    const tenantId = this.service.tenantOf(principal)
    const present = overwrite ? await this.service.findWhere([{ column: 'tenant_id', is: tenantId }]) : []
    const targets = file.ruleChains.map((draft) => this.targetOf(tenantId, draft, present))
    const ids = idsOf(file, targets)
    const names = new Map(targets.map(({ id, name }) => [id, name]))
    const outcomes = await Promise.all(
      targets.map((target, index) => this.planned(target, present, graphOf(file, index, ids), names)),
    )
    if (outcomes.some((outcome) => 'error' in outcome)) return targets.map((each, at) => refused(each, outcomes[at]))
    const plans = outcomes.flatMap((outcome) => ('plan' in outcome ? [outcome.plan] : []))
    await this.write(principal, plans)
    return plans.map(({ chain, before, graph }) => {
      const toFillIn = graph === undefined ? [] : this.parts.secrets.toFillIn(graph)
      return resultOf(chain, before !== undefined, undefined, toFillIn)
    })
  }

  /** One new chain with its graph. */
  async createByUser(principal: Principal, chain: RuleChain, draft: GraphDraft): Promise<RuleChain> {
    const drawn = { ...chain, version: DRAWN_VERSION }
    const graph = await this.checked(draft, drawn, nothingDrawn(chain.id), { disableUnknown: true })
    const plan = { chain: { ...drawn, firstRuleNodeId: firstNodeId(graph) }, before: undefined, graph }
    await this.write(principal, [plan])
    return plan.chain
  }

  /** The chain that the draft becomes, without its graph. */
  private targetOf(
    tenantId: string,
    { id: _ofTheFile, root: _ofTheTenant, ...draft }: Omit<RuleChainDraft, 'version'>,
    present: readonly RuleChain[],
  ): RuleChain {
    const { name = '', type = 'CORE' } = draft
    const before = present.find((chain) => chain.name === name && chain.type === type)
    const { id, createdTime, root, version } = before ?? this.service.fresh(tenantId, {})
    return recordWith(ruleChains, { id, createdTime, tenantId, version: version + 1 }, { ...draft, root })
  }

  private async planned(
    target: RuleChain,
    present: readonly RuleChain[],
    draft: GraphDraft | undefined,
    names: ReadonlyMap<string, string>,
  ): Promise<Outcome> {
    try {
      checkName('Rule chain', 'name', target.name)
      const before = present.find(({ id }) => id === target.id)
      if (draft === undefined) {
        const firstRuleNodeId = before?.firstRuleNodeId ?? null
        return { plan: { chain: { ...target, firstRuleNodeId }, before, graph: undefined } }
      }
      const drawn = before === undefined ? draft : await this.withNodesBefore(draft, before)
      const graph = await this.checked(drawn, target, nothingDrawn(target.id), { disableUnknown: true }, names)
      return { plan: { chain: { ...target, firstRuleNodeId: firstNodeId(graph) }, before, graph } }
    } catch (error) {
      if (!isMillraceError(error)) throw error
      return { error }
    }
  }

  /** A file of this very chain masks the secrets that its nodes have. */
  private async withNodesBefore(draft: GraphDraft, { id }: RuleChain): Promise<GraphDraft> {
    const graph = await this.parts.entities.ruleChains.graph(id)
    const before = new Map(graph?.nodes.map((node) => [node.id, node]))
    return { ...draft, nodes: draft.nodes.map((node) => ({ ...node, madeOf: before.get(node.id ?? '') })) }
  }

  private async write(principal: Principal, plans: readonly Plan[]): Promise<void> {
    const { changes, doubts, feed, deployments } = this.parts
    const statements: Statement[] = []
    for (const plan of plans) statements.push(...(await this.stepsOf(principal, plan)))
    const events = plans.map((plan) => eventOf(principal, plan))
    const tell = (): void => {
      for (const { chain } of plans) feed.publish(chainChanged(chain))
    }
    const [first] = plans
    const tried = () => attemptedSave('RULE_CHAIN', undefined, first?.chain.name, { name: first?.chain.name ?? '' })
    await changes.attempt(principal, tried, () => doubts.watch(changes.commitAll(statements, events), tell))
    tell()
    for (const { chain } of plans) await deployments.of(entityId('RULE_CHAIN', chain.id))
  }

  private async stepsOf(principal: Principal, { chain, before, graph }: Plan): Promise<readonly Statement[]> {
    const drawn =
      graph === undefined
        ? []
        : [...this.parts.entities.ruleChains.replaceGraph(graph), ...this.versions.kept(principal, chain, graph)]
    if (before !== undefined) return [this.service.update(chain), ...drawn]
    const guard = await this.parts.limits.guard(chain.tenantId, 'RULE_CHAIN')
    return [...guard, this.service.insert(chain), ...drawn]
  }
}

/** From the ids of the file to those of the chains. Throws `IMPORT_WITHOUT_ID`, `IMPORT_NAMES_NOTHING`. */
function idsOf(file: RuleChainImport, targets: readonly RuleChain[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  for (const [index, { id }] of file.ruleChains.entries()) {
    const target = targets[index]
    if (id === undefined || ids.has(id) || target === undefined) throw RuleChainErrors.IMPORT_WITHOUT_ID({ index })
    ids.set(id, target.id)
  }
  for (const [index, { ruleChainId }] of file.metadata.entries())
    if (!ids.has(ruleChainId)) throw RuleChainErrors.IMPORT_NAMES_NOTHING({ index })
  return ids
}

/** The graph of the file's chain under the ids of here. Its nodes will all be new: a chain that has just been made has none of theirs. */
function graphOf(file: RuleChainImport, index: number, ids: ReadonlyMap<string, string>): GraphDraft | undefined {
  const id = file.ruleChains[index]?.id ?? ''
  const draft = file.metadata.find(({ ruleChainId }) => ruleChainId === id)
  if (draft === undefined) return undefined
  return {
    ...draft,
    version: undefined,
    ruleChainId: ids.get(id) ?? id,
    nodes: draft.nodes.map((node) => withTarget(node, ids)),
    ruleChainConnections: (draft.ruleChainConnections ?? []).map((legacy) => {
      const target = targetChainOf(legacy)
      return { ...legacy, targetRuleChainId: { entityType: 'RULE_CHAIN', id: ids.get(target) ?? target } }
    }),
  }
}

function withTarget(node: NodeDraft, ids: ReadonlyMap<string, string>): NodeDraft {
  if (node.type !== INPUT_NODE_TYPE) return node
  const target = ids.get(idOfTarget(node.configuration) ?? '')
  return target === undefined ? node : { ...node, configuration: { ...node.configuration, ruleChainId: target } }
}

function refused(target: RuleChain, outcome: Outcome | undefined): ImportResult {
  const error = outcome !== undefined && 'error' in outcome ? outcome.error : RuleChainErrors.NOT_IMPORTED()
  return resultOf(target, false, error.message)
}

function resultOf(
  { id, name }: RuleChain,
  isUpdate: boolean,
  error: string | undefined,
  toFillIn: readonly string[] = [],
): ImportResult {
  return { ruleChainId: id, ruleChainName: name, isUpdate, error, toFillIn }
}

function eventOf(principal: Principal, { chain, before }: Plan): EntityEvent {
  const json: JsonObject = ruleChains.jsonOf(chain)
  return {
    type: before === undefined ? 'ENTITY_CREATED' : 'ENTITY_UPDATED',
    principal,
    tenantId: chain.tenantId,
    customerId: null,
    originator: entityId('RULE_CHAIN', chain.id),
    metadata: { entityName: chain.name, entityType: 'RULE_CHAIN' },
    data: stringifyJson(json),
  }
}
